/**
 * What a process counts for `/metrics`. Nothing here takes a value that belongs to a workspace, a
 * person or a text: names come from the source, from the deployment's settings and from networks.
 */
import type { LetterEnding, Meter } from '#actors/engine/meter'
import type { SentRequest } from '#actors/work/growth/send-deps'
import type { DeliveryOutcome } from '#domain/app/webhook'
import { Spread, Tally } from '#kernel/tally'
import type { SendResult } from '#port/channel/channel'
import type { EndedCall } from '#port/model/openai/connection'
import { callCost } from '#port/model/openai/prices'

/**
 * How many names are told apart. There are two hundred kinds of letters; the others are far fewer,
 * unless somebody configures very many models.
 */
export const mostNames = { letters: 250, kinds: 40, networks: 12, channels: 10, models: 25 }

const LETTERS = ['done', 'refused', 'gone', 'moved', 'failed'] as const
const WORK = ['claimed', 'crashed', 'ended'] as const
const SENT = ['posted', 'refused', 'not_applied', 'disconnected', 'unknown', 'unsent'] as const
const DELIVERED = ['accepted', 'gone', 'failed', 'stopped'] as const
const REPLIED = ['sent', 'unsent', 'refused', 'unknown'] as const
const CALLS = ['answered', 'failed', 'aborted'] as const
const TOKENS = ['input', 'cached', 'output', 'micros'] as const
const SPANS = ['sent', 'dropped'] as const
const STATUSES = ['2xx', '3xx', '4xx', '5xx'] as const

/** In seconds. A letter has 4.5 seconds to be decided. */
const LETTER_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
/** In seconds. A post counts as missed long after the last of these. */
const LATE_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 900, 3_600]

const MICROS_PER_HUNDREDTH_OF_A_CENT = 100
const MS = 1_000

type Prices = Parameters<typeof callCost>[2]

/** In order, so that a status finds its class by its first digit. */
const classOf = (status: number): (typeof STATUSES)[number] =>
  STATUSES[Math.min(3, Math.max(0, Math.floor(status / 100) - 2))]!

export class Meters {
  readonly letters = new Tally<LetterEnding>(LETTERS, mostNames.letters)
  readonly letterSeconds = new Spread(LETTER_SECONDS)
  readonly work = new Tally<(typeof WORK)[number]>(WORK, mostNames.kinds)
  readonly posts = new Tally<SentRequest['outcome']>(SENT, mostNames.networks)
  readonly engagements = new Tally<SentRequest['outcome']>(SENT, mostNames.networks)
  readonly lateSeconds = new Spread(LATE_SECONDS)
  readonly deliveries = new Tally<DeliveryOutcome['kind']>(DELIVERED, 2)
  readonly replies = new Tally<SendResult['kind']>(REPLIED, mostNames.channels)
  readonly calls = new Tally<EndedCall['ending']>(CALLS, mostNames.models)
  readonly tokens = new Tally<(typeof TOKENS)[number]>(TOKENS, mostNames.models)
  readonly answers = new Tally<(typeof STATUSES)[number]>(STATUSES, 2)
  readonly spans = new Tally<(typeof SPANS)[number]>(SPANS, 2)
  readonly meter: Meter = {
    letter: (name, ending, ms) => {
      this.letters.add(name, ending)
      this.letterSeconds.add(ms / MS)
    },
    work: (kind, what) => this.work.add(kind, what),
  }

  constructor(private readonly prices?: Prices) {}

  readonly sent = ({ sendable, network, outcome, lateMs }: SentRequest): void => {
    const tally = sendable === 'post' ? this.posts : this.engagements
    tally.add(network, outcome)
    if (outcome === 'posted' && lateMs !== undefined) this.lateSeconds.add(Math.max(0, lateMs) / MS)
  }

  readonly delivered = (outcome: DeliveryOutcome['kind']): void => this.deliveries.add('', outcome)

  readonly replied = (channel: string, result: SendResult['kind']): void =>
    this.replies.add(channel, result)

  readonly answered = (status: number): void => this.answers.add('', classOf(status))

  readonly traced = (what: (typeof SPANS)[number], spans: number): void =>
    this.spans.add('', what, spans)

  readonly called = ({ model, ending, usage }: EndedCall): void => {
    this.calls.add(model, ending)
    if (!usage) return
    const { input_tokens, output_tokens, cached_tokens = 0, cost_micros } = usage
    const own = { input_tokens, output_tokens, cached_tokens }
    const cost = () => (callCost(model, own, this.prices) ?? 0) * MICROS_PER_HUNDREDTH_OF_A_CENT
    this.tokens.add(model, 'input', input_tokens)
    this.tokens.add(model, 'cached', cached_tokens)
    this.tokens.add(model, 'output', output_tokens)
    this.tokens.add(model, 'micros', cost_micros ?? cost())
  }
}
