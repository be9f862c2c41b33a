// The page of a survey, as HTML and as Markdown: one sentence, and what each step found, with a way
// to its own page. Used by the program; pure functions of their material. Must not touch files.
#pragma once

#include <string>

#include "reports/model/survey.hpp"

namespace mx::reports {

std::string render_survey_html(const SurveyMaterial& material);
std::string render_survey_markdown(const SurveyMaterial& material);

}  // namespace mx::reports
