//! The series of the table, registered once with a recorder of their own.

use super::table::{Counter, Gauge, Histogram, Row};
use metrics::{Key, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{
    Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

const METADATA: Metadata<'static> = Metadata::new("ops", Level::INFO, None);

/// A handle for every series, in the order of the enums.
pub(super) struct Series {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    counters: Vec<Labelled>,
    gauges: Vec<metrics::Gauge>,
    histograms: Vec<metrics::Histogram>,
}

/// The series of one counter: by label value, or a single one without.
struct Labelled(Vec<(Option<&'static str>, metrics::Counter)>);

impl Series {
    pub(super) fn new() -> Self {
        let recorder = recorder();
        Self {
            handle: recorder.handle(),
            counters: Counter::ALL
                .map(|counter| counters(&recorder, counter.row()))
                .into(),
            gauges: Gauge::ALL
                .map(|gauge| register_gauge(&recorder, gauge.row()))
                .into(),
            histograms: Histogram::ALL
                .map(|histogram| register_histogram(&recorder, histogram.row()))
                .into(),
            recorder,
        }
    }

    /// The counter's series for `value`. One that the row does not list is a mistake of the caller,
    /// but still counted, because sums have to balance.
    pub(super) fn counter(&self, counter: Counter, value: Option<&str>) -> metrics::Counter {
        let listed = &self.counters[counter as usize].0;
        if let Some((_, series)) = listed.iter().find(|(listed, _)| *listed == value) {
            return series.clone();
        }
        debug_assert!(false, "{counter:?} has no series for label value {value:?}");
        let row = counter.row();
        let key = match (row.label, value) {
            (Some(label), Some(value)) => Key::from_parts(
                row.name,
                vec![metrics::Label::new(label.key, value.to_owned())],
            ),
            (Some(_), None) | (None, _) => Key::from_static_name(row.name),
        };
        self.recorder.register_counter(&key, &METADATA)
    }

    pub(super) fn gauge(&self, gauge: Gauge) -> &metrics::Gauge {
        &self.gauges[gauge as usize]
    }

    /// The gauge's series for `value`, a name in the code: made when first asked for.
    pub(super) fn labelled_gauge(&self, gauge: Gauge, value: &'static str) -> metrics::Gauge {
        let row = gauge.row();
        let Some(label) = row.label else {
            debug_assert!(false, "{gauge:?} has no label for {value:?}");
            return self.gauge(gauge).clone();
        };
        let labels = vec![metrics::Label::new(label.key, value)];
        self.recorder
            .register_gauge(&Key::from_parts(row.name, labels), &METADATA)
    }

    pub(super) fn histogram(&self, histogram: Histogram) -> &metrics::Histogram {
        &self.histograms[histogram as usize]
    }

    pub(super) fn render(&self) -> String {
        self.handle.render()
    }

    pub(super) fn compact(&self) {
        self.handle.run_upkeep();
    }
}

fn recorder() -> PrometheusRecorder {
    Histogram::ALL
        .iter()
        .fold(PrometheusBuilder::new(), |builder, histogram| {
            let row = histogram.row();
            builder
                .set_buckets_for_metric(Matcher::Full(row.name.to_owned()), row.buckets)
                .expect("every histogram of the table has buckets")
        })
        .build_recorder()
}

fn counters(recorder: &PrometheusRecorder, row: Row) -> Labelled {
    recorder.describe_counter(row.name.into(), None, row.help.into());
    let Some(label) = row.label else {
        let key = Key::from_static_name(row.name);
        return Labelled(vec![(None, recorder.register_counter(&key, &METADATA))]);
    };
    let series = label.values.iter().map(|value| {
        let labels = vec![metrics::Label::new(label.key, *value)];
        let key = Key::from_parts(row.name, labels);
        (Some(*value), recorder.register_counter(&key, &METADATA))
    });
    Labelled(series.collect())
}

fn register_gauge(recorder: &PrometheusRecorder, row: Row) -> metrics::Gauge {
    recorder.describe_gauge(row.name.into(), None, row.help.into());
    if row.label.is_some() {
        // Its series come as they are set.
        return metrics::Gauge::noop();
    }
    recorder.register_gauge(&Key::from_static_name(row.name), &METADATA)
}

fn register_histogram(recorder: &PrometheusRecorder, row: Row) -> metrics::Histogram {
    recorder.describe_histogram(row.name.into(), None, row.help.into());
    recorder.register_histogram(&Key::from_static_name(row.name), &METADATA)
}
