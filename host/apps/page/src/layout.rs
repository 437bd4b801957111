//! A page as a whole.

use crate::policy::content_security_policy;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A page: what it says first, its sections, and what stands below.
#[derive(Debug, Clone)]
pub struct Page {
    /// The heading, and the title of the window. It is ours, not text that nobody trusts.
    pub title: String,
    /// What a reader who reads nothing else should know.
    pub lead: Markup,
    /// The rest, in the order of the table of contents.
    pub sections: Vec<Section>,
    /// How the page was made, and from what.
    pub footer: Markup,
}

/// A part of a page that the table of contents names.
#[derive(Debug, Clone)]
pub struct Section {
    /// What links to it end in; it is ours, in lower case without spaces.
    pub id: &'static str,
    /// The heading.
    pub heading: &'static str,
    /// What stands below it.
    pub body: Markup,
}

impl Section {
    /// A section.
    pub fn new(id: &'static str, heading: &'static str, body: Markup) -> Section {
        Section { id, heading, body }
    }
}

impl Page {
    /// The page as the text of a file.
    pub fn render(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(content_security_policy(STYLE, SCRIPT));
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#content" { "To the content" }
                    header { h1 { (self.title) } }
                    main id="content" tabindex="-1" {
                        div.lead { (self.lead) }
                        @if self.sections.len() > 1 {
                            nav aria-label="Contents" {
                                ul { @for section in &self.sections { li { a href={ "#" (section.id) } { (section.heading) } } } }
                            }
                        }
                        @for section in &self.sections {
                            section id=(section.id) aria-labelledby={ (section.id) "-heading" } {
                                h2 id={ (section.id) "-heading" } { (section.heading) }
                                (section.body)
                            }
                        }
                    }
                    footer { (self.footer) }
                    p #announcement .unseen role="status" {}
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_asks_for_nothing() {
        let section = Section::new("one", "One", html! { p { "text" } });
        let page =
            Page { title: "Title".into(), lead: html! {}, sections: vec![section.clone(), section], footer: html! {} }
                .render();
        assert!(page.contains(r##"<a href="#one">One</a>"##) && page.contains(r#"<section id="one""#), "{page}");
        for outside in ["src=", "@import", "url(", "://", "<link", " style=", " onclick"] {
            assert!(!page.contains(outside), "{outside} in {page}");
        }
    }

    #[test]
    fn neither_style_nor_script_ends_before_its_end() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }
}
