//! One page: its content streams are run as far as they show text, and its annotations are asked where
//! they lead.
//!
//! Nothing is drawn. Of the graphics state only that counts which moves text: the matrices, and the
//! parameters of text (ISO 32000-1 sections 8.4 and 9.3). Drawings inside drawings are followed as deep as
//! allowed; fonts are read once for the whole document.

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::font::{Bounds, Font, is_named, number};
use crate::layout::{Layout, Matrix};
use crate::lexer::{Lexer, Token};

/// What the pages of one document share.
pub struct Reader<'d> {
    document: &'d Document,
    bounds: Bounds,
    nesting_max: usize,
    fonts: HashMap<ObjectId, Rc<Font>>,
    /// Whether a stream was left out: broken, or too large once it is unpacked.
    pub left_out: bool,
}

/// What moves text.
#[derive(Clone)]
struct State {
    /// From the page's units to where things are shown.
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    letter_gap: f64,
    word_gap: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

impl State {
    fn new(page: Matrix) -> Self {
        let (font, size, letter_gap, word_gap) = (None, 0.0, 0.0, 0.0);
        let (stretch, leading, rise) = (1.0, 0.0, 0.0);
        Self { page, font, size, letter_gap, word_gap, stretch, leading, rise }
    }
}

/// A content stream being run.
struct Run<'r, 'd> {
    reader: &'r mut Reader<'d>,
    resources: &'r Dictionary,
    layout: &'r mut Layout,
    depth: usize,
    state: State,
    saved: Vec<State>,
    /// Where the next letter goes, and where its line began.
    text: Matrix,
    line: Matrix,
}

impl<'d> Reader<'d> {
    pub fn new(document: &'d Document, bounds: Bounds, nesting_max: usize) -> Self {
        Self { document, bounds, nesting_max, fonts: HashMap::new(), left_out: false }
    }

    /// The text of a page.
    pub fn text(&mut self, page: ObjectId, bytes_max: usize) -> String {
        let mut layout = Layout::new(bytes_max);
        let content = self.document.get_page_content_with_limit(page, self.bounds.stream_bytes_max);
        let resources = self.resources(page);
        let state = State::new(Matrix::IDENTITY);
        match content {
            Ok(content) => Run::new(self, &resources, &mut layout, 0, state).content(&content),
            Err(_) => self.left_out = true,
        }
        layout.into_text()
    }

    /// The page's resources, or those of the nearest group of pages that has some.
    fn resources(&self, page: ObjectId) -> Dictionary {
        let mut node = self.document.get_dictionary(page).ok();
        for _ in 0..=self.nesting_max {
            let Some(dict) = node else { break };
            let found = dict.get_deref(b"Resources", self.document).and_then(Object::as_dict);
            if let Ok(found) = found {
                return found.clone();
            }
            node = dict.get_deref(b"Parent", self.document).and_then(Object::as_dict).ok();
        }
        Dictionary::new()
    }

    /// Where the annotations of a page lead.
    pub fn links(&self, page: ObjectId) -> Vec<String> {
        let annotations = self.document.get_page_annotations(page).unwrap_or_default();
        annotations.into_iter().filter_map(|annotation| self.target(annotation)).collect()
    }

    /// The URI of an annotation's action, or the file that it names by URL (sections 12.6.4.7 and 7.11.5).
    fn target(&self, annotation: &Dictionary) -> Option<String> {
        let action = annotation.get_deref(b"A", self.document).and_then(Object::as_dict).ok()?;
        let entry = |key: &[u8]| action.get_deref(key, self.document).ok();
        if let Some(uri) = entry(b"URI").and_then(|uri| uri.as_str().ok()) {
            return Some(plain(uri));
        }
        let file = entry(b"F")?;
        let name = match file.as_dict() {
            Ok(spec) if is_named(spec, b"FS", b"URL") => {
                spec.get_deref(b"F", self.document).ok()?.as_str().ok()?
            }
            Ok(_) => return None,
            Err(_) => file.as_str().ok().filter(|_| is_remote(action))?,
        };
        Some(plain(name))
    }

    fn font(&mut self, resources: &Dictionary, name: &[u8]) -> Option<Rc<Font>> {
        let fonts = resources.get_deref(b"Font", self.document).ok()?.as_dict().ok()?;
        let (id, font) = self.document.dereference(fonts.get(name).ok()?).ok()?;
        let read = |font: &Object| {
            Some(Rc::new(Font::new(self.document, font.as_dict().ok()?, self.bounds)))
        };
        match id {
            Some(id) if self.fonts.contains_key(&id) => self.fonts.get(&id).cloned(),
            Some(id) => {
                let font = read(font)?;
                self.fonts.insert(id, font.clone());
                Some(font)
            }
            None => read(font),
        }
    }
}

/// Whether an action leads to another document.
fn is_remote(action: &Dictionary) -> bool {
    is_named(action, b"S", b"GoToR")
}

/// URIs are ASCII; what is not may be UTF-8, else Latin-1.
fn plain(bytes: &[u8]) -> String {
    let latin = || bytes.iter().map(|&byte| char::from(byte)).collect();
    std::str::from_utf8(bytes).map_or_else(|_| latin(), str::to_owned)
}

impl<'r, 'd> Run<'r, 'd> {
    fn new(
        reader: &'r mut Reader<'d>,
        resources: &'r Dictionary,
        layout: &'r mut Layout,
        depth: usize,
        state: State,
    ) -> Self {
        let (text, line) = (Matrix::IDENTITY, Matrix::IDENTITY);
        Self { reader, resources, layout, depth, state, saved: Vec::new(), text, line }
    }

    fn content(mut self, content: &[u8]) {
        let mut lexer = Lexer::new(content);
        let mut operands = Vec::new();
        while let Some(token) = lexer.next() {
            match token {
                Token::Operator(b"ID") => lexer.skip_image(),
                Token::Operator(word) => {
                    self.operator(word, &operands);
                    operands.clear();
                }
                token => {
                    if operands.len() >= self.reader.bounds.operands_max {
                        operands.clear();
                    }
                    operands.push(token);
                }
            }
            if self.layout.is_full() {
                break;
            }
        }
    }

    fn operator(&mut self, word: &[u8], operands: &[Token<'_>]) {
        let numbers = numbers(operands);
        let first = numbers[0];
        match word {
            b"q" if self.saved.len() < self.reader.nesting_max * 16 => {
                self.saved.push(self.state.clone());
            }
            b"Q" => self.state = self.saved.pop().unwrap_or_else(|| self.state.clone()),
            b"cm" => self.state.page = Matrix(numbers).then(&self.state.page),
            b"BT" => (self.text, self.line) = (Matrix::IDENTITY, Matrix::IDENTITY),
            b"Tc" => self.state.letter_gap = first,
            b"Tw" => self.state.word_gap = first,
            b"Tz" => self.state.stretch = first / 100.0,
            b"TL" => self.state.leading = first,
            b"Ts" => self.state.rise = first,
            b"Tf" => self.set_font(operands),
            b"Td" => self.next_line(first, numbers[1]),
            b"TD" => {
                self.state.leading = -numbers[1];
                self.next_line(first, numbers[1]);
            }
            b"Tm" => (self.text, self.line) = (Matrix(numbers), Matrix(numbers)),
            b"T*" => self.next_line(0.0, -self.state.leading),
            b"Tj" | b"TJ" => self.show_all(operands),
            b"'" => {
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands);
            }
            b"\"" => {
                (self.state.word_gap, self.state.letter_gap) = (first, numbers[1]);
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands.get(2..).unwrap_or_default());
            }
            b"Do" => self.draw(operands),
            _ => {}
        }
    }

    fn set_font(&mut self, operands: &[Token<'_>]) {
        if let [.., Token::Name(name), Token::Number(size)] = operands {
            self.state.font = self.reader.font(self.resources, name);
            self.state.size = *size;
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line = self.line.moved(x, y);
        self.text = self.line;
    }

    /// Strings, and how far back the next one begins, in thousandths of the size.
    fn show_all(&mut self, operands: &[Token<'_>]) {
        for operand in operands {
            match operand {
                Token::Text(bytes) => self.show(bytes),
                Token::Number(back) => {
                    let back = back / 1_000.0 * self.state.size * self.state.stretch;
                    self.text = self.text.moved(-back, 0.0);
                }
                _ => {}
            }
        }
    }

    fn show(&mut self, mut bytes: &[u8]) {
        let Some(font) = self.state.font.clone() else { return };
        let place = self.text.moved(0.0, self.state.rise).then(&self.state.page);
        self.layout.begin(&place, self.state.size);
        let mut width = 0.0;
        while let Some(shown) = font.take(&mut bytes) {
            self.layout.push(&shown.text);
            let word_gap = if shown.is_space { self.state.word_gap } else { 0.0 };
            width += shown.width * self.state.size + self.state.letter_gap + word_gap;
        }
        self.text = self.text.moved(width * self.state.stretch, 0.0);
        let place = self.text.moved(0.0, self.state.rise).then(&self.state.page);
        self.layout.end(&place);
    }

    /// Runs a drawing that has a name, if it is one of text and lines.
    fn draw(&mut self, operands: &[Token<'_>]) {
        let document = self.reader.document;
        let Some(Token::Name(name)) = operands.last() else { return };
        let drawings = self.resources.get_deref(b"XObject", document).and_then(Object::as_dict);
        let drawing = drawings.and_then(|all| all.get_deref(name, document));
        let Ok(drawing) = drawing.and_then(Object::as_stream) else { return };
        let is_form = is_named(&drawing.dict, b"Subtype", b"Form");
        if is_form && self.depth < self.reader.nesting_max {
            self.draw_form(drawing);
        }
    }

    fn draw_form(&mut self, form: &Stream) {
        let document = self.reader.document;
        let Ok(content) = form.get_plain_content_with_limit(self.reader.bounds.stream_bytes_max)
        else {
            self.reader.left_out = true;
            return;
        };
        let own = form.dict.get_deref(b"Resources", document).and_then(Object::as_dict);
        let mut state = self.state.clone();
        if let Some(matrix) = matrix_of(document, &form.dict) {
            state.page = matrix.then(&state.page);
        }
        let resources = own.unwrap_or(self.resources);
        Run::new(self.reader, resources, self.layout, self.depth + 1, state).content(&content);
    }
}

fn matrix_of(document: &Document, form: &Dictionary) -> Option<Matrix> {
    let array = form.get_deref(b"Matrix", document).ok()?.as_array().ok()?;
    let mut numbers = array.iter().map(|entry| number(document, entry));
    let mut next = || numbers.next().flatten();
    Some(Matrix([next()?, next()?, next()?, next()?, next()?, next()?]))
}

/// The first six numbers among the operands; zero where there are fewer.
fn numbers(operands: &[Token<'_>]) -> [f64; 6] {
    let mut numbers = [0.0; 6];
    let found = operands.iter().filter_map(|operand| match operand {
        Token::Number(number) => Some(*number),
        _ => None,
    });
    for (place, number) in numbers.iter_mut().zip(found) {
        *place = number;
    }
    numbers
}
