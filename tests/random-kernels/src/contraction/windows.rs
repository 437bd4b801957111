//! Axes of convolutions.

use super::{Factor, Products};
use crate::Builder;
use crate::prng::Prng;
use passhost_ir::kernel::{IndexExpr, IndexId};

/// A dimension that windows slide along.
struct Slide {
    /// Its extent in the tensor.
    input: i64,
    window: i64,
    stride: i64,
    dilation: i64,
    padding: i64,
}

impl Slide {
    fn draw(random: &mut Prng, most_window: i64) -> Slide {
        let (window, dilation) = (random.between(1, most_window), random.pick(&[1, 1, 1, 2, 3]));
        let reach = dilation * (window - 1) + 1;
        // Mostly half a window, sometimes so much that windows lie outside as a whole.
        let padding = match random.below(10) {
            0..3 => 0,
            3..8 => reach / 2,
            _ => random.between(0, reach + 2),
        };
        Slide { input: random.between(1, 40), window, stride: random.pick(&[1, 1, 1, 2, 2, 3]), dilation, padding }
    }

    /// From the first point that a window covers to the last.
    fn reach(&self) -> i64 {
        self.dilation * (self.window - 1) + 1
    }

    /// Makes room for one window at least.
    fn make_room(&mut self, transposed: bool) {
        if transposed {
            self.padding = self.padding.min(((self.input - 1) * self.stride + self.reach() - 1) / 2);
        } else {
            self.input = self.input.max(self.reach() - 2 * self.padding);
        }
    }

    fn results(&self, transposed: bool) -> i64 {
        if transposed {
            return (self.input - 1) * self.stride + self.reach() - 2 * self.padding;
        }
        (self.input + 2 * self.padding - self.reach()) / self.stride + 1
    }
}

/// What a convolution is made of.
struct Convolution {
    batch: i64,
    groups: i64,
    /// Channels of a group, of the tensor and of the result.
    channels: i64,
    results: i64,
    slides: Vec<Slide>,
    /// Results are spread over the windows, each of which is what one element of the input reaches.
    transposed: bool,
}

impl Convolution {
    fn draw(random: &mut Prng, most: i64) -> Convolution {
        let count = random.pick(&[1, 1, 2, 2, 2, 3]);
        let channels = |random: &mut Prng| match random.below(4) {
            0 => 1,
            1 => random.pick(&[8, 16, 32]),
            _ => random.between(1, 20),
        };
        let mut drawn = Convolution {
            batch: random.between(1, 3),
            groups: if random.chance(65) { 1 } else { random.between(2, 8) },
            channels: channels(random),
            results: channels(random),
            slides: (0..count).map(|_| Slide::draw(random, if count == 1 { 9 } else { 4 })).collect(),
            transposed: random.chance(30),
        };
        drawn.make_room();
        while drawn.products() > most {
            let before = drawn.products();
            let sizes = [&mut drawn.batch, &mut drawn.groups, &mut drawn.channels, &mut drawn.results];
            let sizes = sizes.into_iter().chain(drawn.slides.iter_mut().map(|slide| &mut slide.input));
            if let Some(largest) = sizes.max() {
                *largest = (*largest / 2).max(1);
            }
            drawn.make_room();
            if drawn.products() == before {
                // There was room for one window only.
                drawn.slides.iter_mut().for_each(|slide| (slide.window, slide.padding) = (1, 0));
            }
        }
        drawn
    }

    fn make_room(&mut self) {
        self.slides.iter_mut().for_each(|slide| slide.make_room(self.transposed));
    }

    fn products(&self) -> i64 {
        let each = |slide: &Slide| slide.results(self.transposed) * slide.window;
        let slides: i64 = self.slides.iter().map(each).product();
        self.batch * self.groups * self.channels * self.results * slides
    }
}

/// Where the axes of a convolution are.
struct ConvolutionAxes {
    batch: u32,
    /// None where groups lie behind each other along the axis of the results.
    group: Option<u32>,
    result: u32,
    places: Vec<u32>,
    channel: u32,
    steps: Vec<u32>,
}

impl Builder {
    /// A convolution of a tensor, which is the first factor or the second, and a weight.
    pub(super) fn windows(&mut self, most: i64) -> Products {
        let convolution = Convolution::draw(&mut self.random, most);
        let axes = self.convolution_axes(&convolution);
        let Convolution { groups, channels, results, transposed, .. } = convolution;
        let (result, step) = (IndexId(axes.result), IndexId(axes.channel));
        let (group, own, all) = match axes.group {
            Some(group) => (IndexId(group), result, self.join(IndexId(group), results, result)),
            None if groups == 1 => (self.expr(IndexExpr::Const(0)), result, result),
            None => {
                let own = self.expr(IndexExpr::Mod(result, results));
                (self.expr(IndexExpr::FloorDiv(result, results)), own, result)
            }
        };
        let channel = if groups == 1 { step } else { self.join(group, channels, step) };
        let mut tensor = vec![(convolution.batch, IndexId(axes.batch)), (groups * channels, channel)];
        let mut weight = match transposed {
            true => vec![(groups * channels, channel), (results, own)],
            false => vec![(groups * results, all), (channels, step)],
        };
        let mut inside = vec![];
        let guarded = self.random.chance(60);
        for ((slide, &place), &step) in convolution.slides.iter().zip(&axes.places).zip(&axes.steps) {
            let (at, remainder) = self.place(slide, transposed, IndexId(place), IndexId(step));
            inside.extend(remainder.map(|remainder| (remainder, 1)));
            if guarded && (slide.padding > 0 || transposed) {
                inside.push((at, slide.input));
            }
            tensor.push((slide.input, at));
            weight.push((slide.window, IndexId(step)));
        }
        for dims in [&mut tensor, &mut weight] {
            if self.random.chance(25) {
                // Channels lie side by side.
                dims[1..].rotate_left(1);
            }
        }
        let tensor = Factor { dims: tensor, axes: vec![axes.batch, axes.channel] };
        let along_weight = [&[axes.result, axes.channel], &axes.steps[..]].concat();
        let weight = Factor { dims: weight, axes: along_weight };
        let factors = if self.random.chance(80) { [tensor, weight] } else { [weight, tensor] };
        Products { factors, inside }
    }

    /// Makes the axes of a convolution; channels of the result come before or behind its places.
    fn convolution_axes(&mut self, convolution: &Convolution) -> ConvolutionAxes {
        let Convolution { batch, groups, channels, results, ref slides, transposed } = *convolution;
        let is_apart = groups > 1 && self.random.chance(50);
        let places: Vec<i64> = slides.iter().map(|slide| slide.results(transposed)).collect();
        let of_result = if is_apart { vec![groups, results] } else { vec![groups * results] };
        let channels_last = self.random.chance(30);
        let rest = if channels_last { [&places[..], &of_result] } else { [&of_result[..], &places] }.concat();
        let first_of_result = if channels_last { 1 + places.len() as u32 } else { 1 };
        let first_place = if channels_last { 1 } else { 1 + of_result.len() as u32 };
        let parallel = [&[batch], &rest[..]].concat();
        let channel = parallel.len() as u32;
        let windows: Vec<i64> = slides.iter().map(|slide| slide.window).collect();
        self.axes(parallel, [&[channels], &windows[..]].concat());
        let count = slides.len() as u32;
        ConvolutionAxes {
            batch: 0,
            group: is_apart.then_some(first_of_result),
            result: first_of_result + u32::from(is_apart),
            places: (first_place..first_place + count).collect(),
            channel,
            steps: (channel + 1..channel + 1 + count).collect(),
        }
    }

    /// `outer * extent + inner`.
    fn join(&mut self, outer: IndexId, extent: i64, inner: IndexId) -> IndexId {
        let outer = self.expr(IndexExpr::Mul(outer, extent));
        self.expr(IndexExpr::Add(outer, inner))
    }

    /// Where in the tensor a step of a window lies, and what must be 0 if it lies at an element at all.
    fn place(&mut self, slide: &Slide, transposed: bool, place: IndexId, step: IndexId) -> (IndexId, Option<IndexId>) {
        let step = self.expr(IndexExpr::Mul(step, slide.dilation));
        let padding = self.expr(IndexExpr::Const(slide.padding));
        if !transposed {
            let reached = self.join(place, slide.stride, step);
            return (self.expr(IndexExpr::Sub(reached, padding)), None);
        }
        let reached = self.expr(IndexExpr::Add(place, padding));
        let reached = self.expr(IndexExpr::Sub(reached, step));
        let remainder = self.expr(IndexExpr::Mod(reached, slide.stride));
        (self.expr(IndexExpr::FloorDiv(reached, slide.stride)), Some(remainder))
    }
}
