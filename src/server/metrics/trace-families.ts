/** Metrics of traces. */
import type { Family } from './exposition.ts'
import type { Meters } from './meters.ts'
import { byEnding, counter } from './samples.ts'

export const ofTraces = ({ meters }: { meters: Meters }): Family[] => [
  counter(
    'trace_spans_total',
    'Spans of traces, if there are any, by what became of them.',
    byEnding(meters.spans, '', 'outcome'),
  ),
]
