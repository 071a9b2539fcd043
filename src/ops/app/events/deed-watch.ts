/**
 * Finds what was done in followed workspaces without a letter: by people who sign in, at any
 * process, and by operators. The audit has it. All of it concerns owners alone, so only workspaces
 * that an owner follows are looked at.
 */
import { kindsOfDeed } from '#contract/hints'
import { type ChangeHint, kindOfDeed } from '#decisions/app/hints'
import { firstIdAt } from '#kernel/ids'
import type { Log } from '#kernel/log'
import { type Deed, recentDeeds } from '#store/app/audit'
import type { Db } from '#store/engine/db'
import type { HintBus } from './hint-bus.ts'

interface WatchDeps {
  db: Pick<Db, 'read'>
  hints: HintBus
  log: Log
  /** By the database's clock, in epoch milliseconds. */
  now(): number
}

const EVERY_MS = 1_000
/** Longer than the clocks of processes differ, and than such a change takes. */
const LATELY_MS = 10_000

const hintsOf = ({ operation, ref_id: id, actor_kind, actor_id }: Deed): ChangeHint[] => {
  const by = { kind: actor_kind, id: actor_id }
  const several = kindsOfDeed[operation]
  if (several) return several.map((kind) => ({ what: operation, kind, id: null, by }))
  return [{ what: operation, kind: kindOfDeed(operation) ?? 'workspace', id, by }]
}

export class DeedWatch implements Disposable {
  /** Of each workspace, the deeds of late that were told. */
  readonly #told = new Map<string, ReadonlySet<string>>()
  readonly #looking = new Set<string>()
  readonly #timer: Timer

  constructor(
    private readonly deps: WatchDeps,
    everyMs = EVERY_MS,
  ) {
    this.#timer = setInterval(() => this.#lookAtAll(), everyMs)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #lookAtAll(): void {
    const followed = this.deps.hints.followedByOwners()
    for (const tenantId of this.#told.keys())
      if (!followed.includes(tenantId)) this.#told.delete(tenantId)
    for (const tenantId of followed) if (!this.#looking.has(tenantId)) void this.#look(tenantId)
  }

  async #look(tenantId: string): Promise<void> {
    this.#looking.add(tenantId)
    try {
      const since = firstIdAt(this.deps.now() - LATELY_MS)
      const deeds = await this.deps.db.read({ tenantId }, recentDeeds(since))
      const before = this.#told.get(tenantId)
      this.#told.set(tenantId, new Set(deeds.map(({ id }) => id)))
      const fresh = deeds.filter(({ id }) => !before?.has(id))
      this.deps.hints.tell(tenantId, fresh.reverse().flatMap(hintsOf))
    } catch (cause) {
      this.deps.log.debug({ err: cause, workspace: tenantId }, 'the audit could not be looked at')
    } finally {
      this.#looking.delete(tenantId)
    }
  }
}
