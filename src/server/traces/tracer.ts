/** Spans as they run. What has ended goes to the sender. */
import { randomFillSync } from 'node:crypto'
import {
  contextOf,
  type NewSpan,
  type SpanFacts,
  spanIdOf,
  type Tracer,
  type TraceSpan,
  traceIdOf,
} from '#kernel/trace'

/** A span that has ended. Times are in microseconds since 1970. */
export interface EndedSpan {
  traceId: string
  spanId: string
  /** Empty if it began its trace. */
  parentId: string
  link: string | undefined
  name: string
  kind: NewSpan['kind']
  from: number
  to: number
  outcome: string
  isFailure: boolean
  facts: SpanFacts
}

const POOL = Buffer.alloc(4_096)
let used = POOL.length

/** Random bytes as hex. They are drawn in portions, because drawing takes long. */
const randomHex = (bytes: number): string => {
  if (used + bytes > POOL.length) {
    randomFillSync(POOL)
    used = 0
  }
  const text = POOL.toString('hex', used, used + bytes)
  used += bytes
  return text
}

/** How far the two clocks of the process may be apart. */
const APART_MS = 20
let offset = Date.now() - performance.now()

/** The wall clock, as fine as the monotonic one, which follows the steps of the wall clock. */
const now = (): number => {
  const [wall, monotonic] = [Date.now(), performance.now()]
  if (Math.abs(monotonic + offset - wall) > APART_MS) offset = wall - monotonic
  return Math.round((monotonic + offset) * 1_000)
}

class RunningSpan implements TraceSpan {
  readonly context: string
  readonly #from = now()
  #isOver = false

  constructor(
    private readonly span: NewSpan,
    private readonly ended: (span: EndedSpan) => void,
  ) {
    const { parent } = span
    const traceId = parent === undefined ? randomHex(16) : traceIdOf(parent)
    this.context = contextOf(traceId, randomHex(8))
  }

  end(
    outcome: string,
    { isFailure = false, ...more }: SpanFacts & { isFailure?: boolean } = {},
  ): void {
    if (this.#isOver) return
    this.#isOver = true
    const { name, kind, parent, link, facts } = this.span
    this.ended({
      traceId: traceIdOf(this.context),
      spanId: spanIdOf(this.context),
      parentId: parent === undefined ? '' : spanIdOf(parent),
      link,
      name,
      kind,
      from: this.#from,
      to: Math.max(this.#from, now()),
      outcome,
      isFailure,
      facts: { ...facts, ...more },
    })
  }
}

export const createTracer = (ended: (span: EndedSpan) => void): Tracer => ({
  begin: (span) => new RunningSpan(span, ended),
})
