/**
 * Tells clients that have listed tools when their workspace enables or disables a module of tools.
 */

/** A client that has listed tools. */
export interface Lister {
  tenantId: string
  /** The modules that were enabled when it did. Undefined if its list does not depend on any. */
  listed: ReadonlySet<string> | undefined
  /** Called when the list has changed. */
  changed(modules: ReadonlySet<string>): void
}

/** How many workspaces one sweep looks at. The others get their turn in later sweeps. */
const MOST_WORKSPACES = 50

const areEqual = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.symmetricDifference(b).size === 0

export class ModuleWatch {
  /** The last workspace that a sweep looked at. */
  #last = ''
  #isRunning = false

  constructor(private readonly modulesOf: (tenantId: string) => Promise<ReadonlySet<string>>) {}

  /** Does nothing while another sweep is running, because both would report the same change. */
  async sweep(listers: readonly Lister[]): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    await this.#sweep(listers).finally(() => {
      this.#isRunning = false
    })
  }

  async #sweep(listers: readonly Lister[]): Promise<void> {
    const byTenant = Map.groupBy(
      listers.filter(({ listed }) => listed !== undefined),
      ({ tenantId }) => tenantId,
    )
    const tenants = this.#next([...byTenant.keys()].sort())
    await Promise.all(
      tenants.map(async (tenantId) => {
        const now = await this.modulesOf(tenantId)
        for (const { listed, changed } of byTenant.get(tenantId)!)
          if (!areEqual(listed!, now)) changed(now)
      }),
    )
  }

  /** The workspaces after the last one, continuing at the beginning. */
  #next(sorted: readonly string[]): string[] {
    const from = sorted.findIndex((one) => one > this.#last)
    const next = from === -1 ? sorted : [...sorted.slice(from), ...sorted.slice(0, from)]
    const chosen = next.slice(0, MOST_WORKSPACES)
    this.#last = chosen.at(-1) ?? ''
    return chosen
  }
}
