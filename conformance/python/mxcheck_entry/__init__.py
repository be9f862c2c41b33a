"""What others start by name: the program, and the plug-in of pytest. Apart from the package
mxcheck, so that neither loads the library before it is asked for.
"""
