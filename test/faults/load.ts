/**
 * Clients that write and read without pause and behave well: a key for each command, and a retry
 * after a 503.
 */
import type { Tenant } from './fleet.ts'

/** One command of a client, with all its retries. */
export interface Sent {
  /** Idempotency-Key, X-Request-Id and the text that it writes. */
  key: string
  tenantId: string
  /** Index of the server that acknowledged it; undefined if none did. */
  by?: number
  /** When it was acknowledged, in epoch milliseconds. */
  at?: number
}

export interface Refusal {
  server: number
  at: number
  /** 0 if the connection broke, or no answer came within the client's patience. */
  status: number
  ms: number
  retryAfter: string | null
}

export interface Load {
  sent: Sent[]
  /** Answers that a client retries after. */
  refusals: Refusal[]
  /** Answers that no client expects. */
  wrong: string[]
  reads: number
  /** The latest acknowledgement of each workspace and server, by `<tenant> <server>`. */
  latest: Map<string, number>
  /** Lets every client finish its current command. */
  stop(): Promise<void>
}

export interface LoadOptions {
  /** The current address of each server. */
  urls: () => string[]
  tenants: Tenant[]
  /** For each pair of workspace and server. */
  clients: number
  /** Pause between a client's commands. */
  pauseMs: number
  /** Distinguishes the keys of several loads. */
  name: string
  /** A client abandons a request after this long, and tries another server. */
  patienceMs: number
  /** A command that has not succeeded after this long counts as unanswered. */
  giveUpMs: number
}

const READ_EVERY = 5
const RETRY_MS = 100
const MOST_WRONG = 20

interface Client {
  tenant: Tenant
  home: number
}

const requestTo = (
  url: string,
  { key }: Tenant,
  body: string | undefined,
  { id, patienceMs }: { id: string; patienceMs: number },
) =>
  fetch(`${url}/api/v1/growth/${body === undefined ? 'overview' : 'profile'}`, {
    method: body === undefined ? 'GET' : 'PUT',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': id,
      'x-request-id': id,
    },
    signal: AbortSignal.timeout(patienceMs),
    ...(body === undefined ? {} : { body }),
  })

const isRepeatable = (status: number, text: string): boolean =>
  status === 503 || (status === 409 && text.includes('idempotency_in_flight'))

/** Tries the client's own server first, another after each refusal, until one answers. */
const persist = async (
  load: Load,
  options: LoadOptions,
  { tenant, home }: Client,
  id: string,
  body: string | undefined,
) => {
  const until = performance.now() + options.giveUpMs
  for (let tries = 0; performance.now() < until; tries++) {
    const urls = options.urls()
    const server = (home + tries) % urls.length
    const asked = performance.now()
    const response = await requestTo(urls[server]!, tenant, body, {
      id,
      patienceMs: options.patienceMs,
    }).catch(() => undefined)
    const text = (await response?.text().catch(() => undefined)) ?? ''
    const status = response && text ? response.status : 0
    if (status === 200) return { server, text }
    const refusal = {
      server,
      status,
      ms: performance.now() - asked,
      at: Date.now(),
      retryAfter: response?.headers.get('retry-after') ?? null,
    }
    load.refusals.push(refusal)
    if (status !== 0 && !isRepeatable(status, text)) {
      if (load.wrong.length < MOST_WRONG) load.wrong.push(`${status} ${text.slice(0, 200)}`)
      return undefined
    }
    await Bun.sleep(RETRY_MS)
  }
  if (load.wrong.length < MOST_WRONG) load.wrong.push(`${id}: no answer in ${options.giveUpMs} ms`)
  return undefined
}

const write = async (
  load: Load,
  options: LoadOptions,
  client: Client,
  id: string,
): Promise<void> => {
  const entry: Sent = { key: id, tenantId: client.tenant.id }
  load.sent.push(entry)
  const answer = await persist(load, options, client, id, JSON.stringify({ goal: id }))
  if (!answer) return
  if (!answer.text.includes(id))
    load.wrong.push(`the answer to ${id} is another's: ${answer.text.slice(0, 200)}`)
  Object.assign(entry, { by: answer.server, at: Date.now() })
  load.latest.set(`${client.tenant.id} ${answer.server}`, Date.now())
}

const read = async (
  load: Load,
  options: LoadOptions,
  client: Client,
  id: string,
): Promise<void> => {
  if (await persist(load, options, client, id, undefined)) load.reads++
}

/** Starts clients for each pair of workspace and server. */
export const startLoad = (options: LoadOptions): Load => {
  let stopped = false
  const load: Load = {
    sent: [],
    refusals: [],
    wrong: [],
    reads: 0,
    latest: new Map(),
    async stop() {
      stopped = true
      await Promise.all(running)
    },
  }
  const live = async (client: Client, index: number): Promise<void> => {
    for (let n = 0; !stopped; n++) {
      const id = `${options.name}-${index}-${n}`
      if (n % READ_EVERY === READ_EVERY - 1) await read(load, options, client, id)
      else await write(load, options, client, id)
      await Bun.sleep(options.pauseMs)
    }
  }
  const homes = options.urls().map((_, home) => home)
  const pairs = options.tenants.flatMap((tenant) => homes.map((home) => ({ tenant, home })))
  const clients = pairs.flatMap((pair) => Array.from({ length: options.clients }, () => pair))
  const running = clients.map(live)
  return load
}
