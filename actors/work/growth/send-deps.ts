/** What sending needs, and what it tells those who count. */
import type { Attempt } from '#domain/growth/sending/attempt'
import type { SendOutcome } from '#domain/growth/sending/send'
import type { SendTimes } from '#domain/growth/sending/times'
import type { Failpoints } from '#kernel/failpoint'
import type { Tracer } from '#kernel/trace'
import type { Networks } from '#port/network/registry'

/** A request to a network, and what became of it. */
export interface SentRequest extends Pick<Attempt, 'sendable'> {
  network: string
  outcome: SendOutcome['kind']
  /** How long after its scheduled time it was sent, in milliseconds. Undefined if it had none. */
  lateMs: number | undefined
}

export interface SendDeps {
  networks: Networks
  times: SendTimes
  failpoints: Failpoints
  /** Counts what went out to networks. Must not throw. */
  sent?: ((sent: SentRequest) => void) | undefined
  tracer?: Tracer | undefined
}
