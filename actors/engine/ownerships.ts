/**
 * The tenants that this process owns in the database. It takes them, and gives back those that
 * nobody uses, trying until that succeeds.
 */
import { sleep } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Ownership } from '#store/engine/letter'
import {
  type ClaimedTenant,
  claimTenant,
  OwnedElsewhere,
  ownerOf,
  releaseClaim,
  releaseTenant,
} from '#store/engine/placement'
import { type ActorDeps, Fenced } from './deps.ts'
import type { Placement } from './placement.ts'

/**
 * A tenant that changes owners has none for a moment. This is how long a letter waits before it
 * fails.
 */
const CLAIM_WITHIN_MS = 2_500
const CLAIM_EVERY_MS = 100

export class Ownerships {
  /** Idle tenants that have left memory but still belong to this process in the database. */
  readonly #unreleased = new Set<Ownership>()
  /** Tenants whose claim may have succeeded without our knowing. */
  readonly #uncertain = new Set<string>()

  constructor(
    private readonly deps: Pick<ActorDeps, 'db' | 'clock' | 'log'>,
    private readonly placement: Pick<Placement, 'incarnation'>,
  ) {}

  async claim(tenantId: string, owner: string): Promise<ClaimedTenant> {
    const until = this.deps.clock.monotonic() + CLAIM_WITHIN_MS
    for (;;) {
      const claimed = await claimTenant(this.deps.db, tenantId, owner).catch((cause) => {
        // It is unknown whether that claim succeeded. If it did, the tenant must be released, or
        // nothing would wake it.
        this.#uncertain.add(tenantId)
        throw cause
      })
      if (claimed) return claimed
      if (owner !== this.placement.incarnation) throw new Fenced()
      const other = await ownerOf(this.deps.db, tenantId)
      if (other === 'gone') throw new AppError('unauthenticated')
      if (other !== 'nobody' && other.incarnation !== owner) throw new OwnedElsewhere(other)
      if (this.deps.clock.monotonic() >= until)
        throw new AppError('unavailable', 'the workspace is moving between processes, try again')
      await sleep(this.deps.clock, CLAIM_EVERY_MS)
    }
  }

  /** The tenant has left memory. */
  giveUp(own: Ownership): void {
    this.#unreleased.add(own)
  }

  /**
   * Releases tenants that were given up, and tenants that this process may own although no claim is
   * known to have succeeded.
   */
  release(isAwake: (tenantId: string) => boolean): void {
    for (const own of this.#unreleased) this.#release(own)
    for (const tenantId of this.#uncertain) {
      if (isAwake(tenantId)) this.#uncertain.delete(tenantId)
      else this.#releaseUncertain(tenantId)
    }
  }

  /**
   * A letter that arrives in the meantime claims the tenant under a new epoch; the release then
   * changes nothing.
   */
  #release(own: Ownership): void {
    releaseTenant(this.deps.db, own).then(
      () => this.#unreleased.delete(own),
      (cause) =>
        this.deps.log.warn(
          { err: cause, workspace: own.tenantId },
          'a tenant could not be released yet',
        ),
    )
  }

  #releaseUncertain(tenantId: string): void {
    releaseClaim(this.deps.db, tenantId, this.placement.incarnation).then(
      () => this.#uncertain.delete(tenantId),
      () => {},
    )
  }
}
