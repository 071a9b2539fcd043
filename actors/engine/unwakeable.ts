/** Tenants with due work that cannot be woken by their own fault let others have their turn. */
import { AppError } from '#kernel/errors'
import { isTimedOut } from '#store/engine/db'
import { type ActorDeps, Fenced } from './deps.ts'

/** How long such a tenant is left alone; below, how many are remembered. */
const LEFT_ALONE_MS = 10_000
const MOST = 1_000

export class Unwakeable {
  readonly #until = new Map<string, number>()

  constructor(private readonly deps: Pick<ActorDeps, 'clock' | 'log'>) {}

  /** How many there are now. */
  count(): number {
    const now = this.deps.clock.monotonic()
    for (const [tenantId, until] of this.#until) if (until <= now) this.#until.delete(tenantId)
    return this.#until.size
  }

  has(tenantId: string): boolean {
    return this.#until.has(tenantId)
  }

  /** It could not be woken. */
  failed(tenantId: string, cause: unknown): void {
    const isItsOwn = isTimedOut(cause) || !(cause instanceof AppError || cause instanceof Fenced)
    if (!isItsOwn || this.#until.size >= MOST) return
    this.#until.set(tenantId, this.deps.clock.monotonic() + LEFT_ALONE_MS)
    this.deps.log.error(
      { err: cause, workspace: tenantId },
      'a workspace with due work cannot be woken; will retry',
    )
  }
}
