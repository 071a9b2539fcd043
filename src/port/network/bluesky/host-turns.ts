/**
 * Turns at a server for reads that nobody waits for. All workspaces come to it from one address, of
 * which a PDS takes 3,000 requests in five minutes. What sends, settles a doubt, signs in or was
 * asked for by a person does not wait here, and always finds room.
 */
import { type Clock, systemClock } from '#kernel/clock'
import { FairLimit } from '#kernel/fair-limit'
import {
  type Egress,
  type EgressRequest,
  type EgressStream,
  NotConnected,
} from '#port/egress/egress'

/** Of 3,000 in 300 s, these reads may take 2,400. */
const READS_A_SECOND = 8
const PLACE_MS = 1_000
/** Shorter than the reads of the lanes take at most. */
const WAIT_MS = 8_000
/** While the server has less than this part left for us, reads rest. */
const LEAST_LEFT = 0.2
const LONGEST_REST_MS = 300_000
/** Workspaces choose servers: those that are idle longest are forgotten. */
const MOST_HOSTS = 1_000

interface Host {
  turns: FairLimit
  /** Monotonic time. */
  restsUntil: number
}

const countIn = (value: string | string[] | undefined): number =>
  typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN

/** For how long a server's answer tells us to leave it alone; 0 if it has enough left. */
const restIn = ({ headers }: EgressStream, now: number): number => {
  const [limit, left, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    countIn(headers[`ratelimit-${name}`]),
  ) as [number, number, number]
  const rest = left < limit * LEAST_LEFT ? reset * 1_000 - now : 0
  return Math.max(0, Math.min(LONGEST_REST_MS, rest || 0))
}

/** Nothing was sent: the read can be tried again later. */
const busy = (): NotConnected =>
  new NotConnected('no turn', { cause: { code: 'THE_SERVER_HAS_ENOUGH_TO_DO' } })

export class HostTurns {
  /** In the order of their last use. */
  readonly #hosts = new Map<string, Host>()

  constructor(private readonly clock: Clock = systemClock) {}

  /** The client for the reads of one account; a workspace makes one of them at a time. */
  egressFor(party: string, egress: Egress): Egress {
    return { ...egress, open: (request) => this.#open(party, egress, request) }
  }

  async #open(party: string, egress: Egress, request: EgressRequest): Promise<EgressStream> {
    const host = this.#at(URL.parse(request.url)?.host ?? '')
    const requireOpen = () => {
      if (host.restsUntil > this.clock.monotonic()) throw busy()
    }
    requireOpen()
    try {
      await host.turns.enter(party, 'asked', 1, () => request.signal!)
    } catch {
      throw busy()
    }
    this.clock.after(PLACE_MS, () => host.turns.leave(party))
    // Those before it may have found out.
    requireOpen()
    const answer = await egress.open(request)
    const restMs = restIn(answer, Date.now())
    if (restMs > 0) host.restsUntil = this.clock.monotonic() + restMs
    return answer
  }

  #at(name: string): Host {
    const host = this.#hosts.get(name) ?? {
      turns: new FairLimit({ name: 'read', total: READS_A_SECOND, withinMs: WAIT_MS }, this.clock),
      restsUntil: 0,
    }
    this.#hosts.delete(name)
    this.#hosts.set(name, host)
    if (this.#hosts.size > MOST_HOSTS) this.#hosts.delete(this.#hosts.keys().next().value!)
    return host
  }
}
