/**
 * The console's files of another build, from the process of this deployment that has it. During an
 * upgrade, a page comes from one process, and the next request for its files reaches another.
 */
import { FairLimit } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { Db } from '#store/engine/db'
import { urlsOfOthers } from '#store/engine/nodes'
import { forward, HOP_HEADER } from '../forward.ts'
import type { Incoming } from '../incoming.ts'

interface OtherBuildsDeps {
  db: Db
  log: Log
  incarnation(): string
}

/** As the bundler names files. */
const NAME = /-[0-9a-z]{8}\.(?:js|css|woff2)$/
/** Anybody may ask for files. A party is an address; a browser has six connections. */
const LIMITS = { name: 'files of other builds', share: 8, total: 32 }
/** For a process that hangs. */
const PATIENCE_MS = 5_000

export class OtherBuilds {
  readonly #slots = new FairLimit(LIMITS)

  constructor(private readonly deps: OtherBuildsDeps) {}

  /** Undefined if no other process has it, or none can be asked now. */
  async find(incoming: Incoming, file: string): Promise<Response | undefined> {
    if (!NAME.test(file) || incoming.request.headers.has(HOP_HEADER)) return undefined
    const free = this.#place(incoming.address())
    try {
      return free && (await this.#ask(incoming.request))
    } finally {
      free?.()
    }
  }

  async #ask(request: Request): Promise<Response | undefined> {
    const { db, log, incarnation } = this.deps
    for (const url of await urlsOfOthers(db, incarnation())) {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const response = await forward(request, { url, signal, log })
      if (response?.ok) return response
      await response?.body?.cancel()
    }
    return undefined
  }

  /** Undefined if all places are taken. */
  #place(party: string): (() => void) | undefined {
    try {
      return this.#slots.take({ party })
    } catch {
      return undefined
    }
  }
}
