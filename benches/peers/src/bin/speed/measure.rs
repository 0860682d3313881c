//! Measuring side by side: rounds in which everybody takes a turn, ratios to the first within each round, and the table.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::Result;

/// What one turn has cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Time on the wall, in µs a unit.
    pub wall: f64,
    /// Time that this thread had a processor, in µs a unit; 0 where it says nothing.
    pub processor: f64,
}

/// Measures what runs between its start and its stop.
#[derive(Debug)]
pub struct Watch {
    wall: Instant,
    processor: Duration,
}

impl Watch {
    /// Starts now.
    pub fn start() -> Self {
        Self { processor: processor_time(), wall: Instant::now() }
    }

    /// The time since, for each of `units`.
    pub fn stop(self, units: usize) -> Cost {
        let (wall, processor) = (self.wall.elapsed(), processor_time() - self.processor);
        let each = |time: Duration| time.as_secs_f64() * 1e6 / units as f64;
        Cost { wall: each(wall), processor: each(processor) }
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Somebody who takes part.
pub struct Racer<'a> {
    name: String,
    note: &'static str,
    turn: Box<dyn FnMut() -> Result<Cost> + 'a>,
    costs: Vec<Cost>,
}

impl<'a> Racer<'a> {
    /// One that does `turn` in each round. `note` says what the reader of the table has to know of it.
    pub fn new(name: impl Into<String>, note: &'static str, turn: impl FnMut() -> Result<Cost> + 'a) -> Self {
        Self { name: name.into(), note, turn: Box::new(turn), costs: Vec::new() }
    }
}

/// Runs so many rounds, everybody once in each, in this order. The first is the limit.
pub fn race(rounds: usize, mut racers: Vec<Racer<'_>>) -> Result<Outcome> {
    for _ in 0..rounds {
        for racer in &mut racers {
            let cost = (racer.turn)().map_err(|error| format!("{}: {error}", racer.name))?;
            racer.costs.push(cost);
        }
    }
    Ok(Outcome { rows: racers.into_iter().map(|racer| (racer.name, racer.note, racer.costs)).collect() })
}

/// What came out.
#[derive(Debug)]
pub struct Outcome {
    rows: Vec<(String, &'static str, Vec<Cost>)>,
}

impl Outcome {
    /// What a round of one has cost beside that of another, on the wall: least, median, most.
    pub fn ratio(&self, of: &str, to: &str) -> [f64; 3] {
        ratios(self.costs(of), self.costs(to), |cost| cost.wall)
    }

    /// Least, median and most of one's times, on the wall, in µs.
    pub fn micros(&self, of: &str) -> [f64; 3] {
        spread(self.costs(of).iter().map(|cost| cost.wall))
    }

    fn costs(&self, name: &str) -> &[Cost] {
        self.rows.iter().find(|(other, ..)| other == name).map_or(&[], |(.., costs)| costs)
    }

    /// Prints the table. `unit` is what a time is for.
    pub fn print(&self, unit: &str) {
        let processor = self.rows.iter().any(|(.., costs)| costs.iter().any(|cost| cost.processor > 0.0));
        let limit = &self.rows[0].2;
        let ours = self.rows.iter().find(|(name, ..)| name.starts_with("**")).map(|(.., costs)| costs);
        println!(
            "| who | what it is | µs {unit}: least, median, most | ÷ limit: least, **median**, most |{} ÷ Seslog |",
            if processor { " ÷ limit, processor's time |" } else { "" }
        );
        println!("| --- | --- | --: | --: |{} --: |", if processor { " --: |" } else { "" });
        for (name, note, costs) in &self.rows {
            let [least, median, most] = spread(costs.iter().map(|cost| cost.wall)).map(digits);
            let [ratio_least, ratio, ratio_most] = ratios(costs, limit, |cost| cost.wall).map(digits);
            let processor = match processor {
                true if costs.iter().all(|cost| cost.processor == 0.0) => " – |".to_owned(),
                true => format!(" {} |", digits(ratios(costs, limit, |cost| cost.processor)[1])),
                false => String::new(),
            };
            let ours = ours.map_or_else(String::new, |ours| digits(ratios(costs, ours, |cost| cost.wall)[1]));
            println!(
                "| {name} | {note} | {least}, {median}, {most} | {ratio_least}, **{ratio}**, {ratio_most} |{processor} {ours} |"
            );
        }
        println!();
    }
}

fn ratios(costs: &[Cost], limit: &[Cost], of: impl Fn(&Cost) -> f64) -> [f64; 3] {
    spread(costs.iter().zip(limit).map(|(cost, limit)| of(cost) / of(limit)))
}

/// Least, median and most.
pub fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.as_slice() {
        [] => [f64::NAN; 3],
        [least, .., most] => [*least, values[values.len() / 2], *most],
        [one] => [*one; 3],
    }
}

/// A number with three digits that count.
pub fn digits(value: f64) -> String {
    match value {
        value if !value.is_finite() => "–".to_owned(),
        value if value >= 1_000.0 => {
            let whole = format!("{value:.0}");
            let mut split = String::with_capacity(whole.len() + whole.len() / 3);
            for (n, digit) in whole.chars().enumerate() {
                if n > 0 && (whole.len() - n).is_multiple_of(3) {
                    split.push(',');
                }
                split.push(digit);
            }
            split
        }
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}
