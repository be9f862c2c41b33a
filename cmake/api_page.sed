# Comments as Doxygen wants them: /// above a thing, ///< behind it and in the lines that go on; the
# first of a header is of the file.
s/@/\\@/g
1s@^// @/// \\file\n/// @
1s@^/\* @/** \\file\n * @
s@ +// namespace.*@@
s@^( {16,})// @\1///< @
s@^( *)// @\1/// @
s@([;,] +)// @\1///< @
s@^( +[a-z_0-9]+( = [^/]+)? +)// @\1///< @
s@^/\*( |$)@/** @
s@([;,] +)/\* @\1/**< @
