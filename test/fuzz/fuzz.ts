/**
 * Sends requests to every operation over HTTP, and reports answers that deviate from the OpenAPI
 * document.
 */
import fc from 'fast-check'
import { bodyFrom, type NamedOp, pathParams, readsOnly } from '#contract/op'
import { type TestApp, testApp } from '#test/support/app'
import { call, legalInput } from '#test/support/contract/prepare'
import { type Document, type Finding, judgeOf, type Seen } from './judge.ts'
import { type CallerName, type Wish, wishes } from './requests.ts'
import { type FuzzWorld, legalPath, openWorld, operationAt, targets } from './world.ts'

export interface FuzzOptions {
  /** For each operation. */
  requests: number
  seed: number
  /** Operations fuzzed at the same time. */
  parallel: number
}

export interface Fuzzed {
  id: string
  requests: number
  /** How often each status was answered. */
  statuses: Record<number, number>
  findings: Found[]
}

interface Found extends Finding {
  /** The request, for reproducing it. */
  request: string
}

type Judge = ReturnType<typeof judgeOf>

/** Requests use up people and keys: so many go to one world. */
const REQUESTS_A_WORLD = 60
/** Further findings of one operation would say nothing new. */
const MOST_FINDINGS = 20

const strangers: readonly CallerName[] = ['revoked', 'nobody', 'garbage']

interface Ready {
  method: string
  url: string
  headers: Record<string, string>
  body: string | undefined
}

const inputOf = async (
  world: FuzzWorld,
  o: NamedOp,
  wish: Wish,
): Promise<Record<string, unknown>> => {
  const { workspace, existing } = world
  const inPath = pathParams(o.path)
  if ('cursor' in o.input.properties && wish.pick % 5 === 0)
    return { ...wish.input, cursor: await nextCursor(world, o) }
  if (wish.aim === 'legal' && wish.pick % 3 === 0)
    return legalInput(workspace, o, wish.pick % 2 === 0 ? 'whole' : 'needed')
  if (wish.aim === 'legal') return { ...wish.input, ...(await legalPath(workspace, o)) }
  if (wish.aim === 'invented') return wish.input
  const ids = Object.entries(existing(wish.pick)).filter(([name]) => inPath.includes(name))
  return { ...wish.input, ...Object.fromEntries(ids) }
}

/** A cursor that the list issued, if it has more than one record. */
const nextCursor = async (world: FuzzWorld, o: NamedOp): Promise<string | undefined> => {
  const reply = await call({ ...world.workspace }, o, { limit: 1 })
  const { next_cursor } = reply.body as { next_cursor?: string | null }
  return next_cursor ?? undefined
}

const encoded = (value: unknown): string => {
  const text = (
    typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  ).toWellFormed()
  // Clients resolve dots themselves, and an empty segment is another path.
  return /^\.{0,2}$/.test(text) ? 'dots' : encodeURIComponent(text.slice(0, 1_000))
}

const queryOf = (rest: [string, unknown][]): string => {
  const query = new URLSearchParams(
    Object.fromEntries(
      rest.map(([name, value]) => [
        name,
        typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
      ]),
    ),
  )
  return rest.length === 0 ? '' : `?${query}`.slice(0, 12_000)
}

const requestOf = (
  o: NamedOp,
  wish: Wish,
  { input, credential }: { input: Record<string, unknown>; credential: string | undefined },
): Ready => {
  const inPath = pathParams(o.path)
  const method = wish.method ?? o.method
  const rest = Object.entries(input).filter(
    ([name, value]) => !inPath.includes(name) && value !== undefined,
  )
  const path = o.path.replace(/:([a-z_]+)/gi, (_, name: string) => encoded(input[name]))
  const search = wish.search ?? (readsOnly(o) ? queryOf(rest) : '')
  const hasBody = !readsOnly(o) && method !== 'GET' && method !== 'HEAD'
  const body = hasBody
    ? (wish.raw ??
      (rest.length > 0 || wish.pick % 2 === 0
        ? JSON.stringify(bodyFrom(o, input) ?? {})
        : undefined))
    : undefined
  const headers = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...wish.headers,
    ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
  }
  return { method, url: path + search, headers, body }
}

const exchange = async (app: TestApp, { method, url, headers, body }: Ready): Promise<Seen> => {
  const response = await fetch(`${app.url}${url}`, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const describedRequest = ({ method, url, body }: Ready, { caller, plan }: Wish): string =>
  `${method} ${url.slice(0, 200)} by ${caller}, plan ${plan} ${JSON.stringify(body ?? '').slice(0, 300)}`

const findingsOf = (judge: Judge, o: NamedOp, { method }: Ready, seen: Seen): Finding[] => {
  const meant = operationAt(o.path, method)
  if (!meant) return judge.others(seen, method)
  // The answer to HEAD has no body to judge.
  return method === 'HEAD' ? [] : judge.answer(meant, seen)
}

interface Task {
  o: NamedOp
  all: Wish[]
}

/** Each operation has a sequence of its own, which does not change when others are added. */
const taskOf = (o: NamedOp, { requests, seed }: FuzzOptions): Task => ({
  o,
  all: fc.sample(wishes(o), { numRuns: requests, seed: (seed ^ Bun.hash.crc32(o.id)) | 0 }),
})

const fuzzOne = async (app: TestApp, judge: Judge, { o, all }: Task): Promise<Fuzzed> => {
  const result: Fuzzed = { id: o.id, requests: 0, statuses: {}, findings: [] }
  let world: FuzzWorld | undefined
  for (const wish of all) {
    if (result.requests % REQUESTS_A_WORLD === 0) world = undefined
    world ??= await openWorld(app)
    await world.setPlan('open')
    const input = await inputOf(world, o, wish).catch(async () => {
      // The records or people are gone: the operation has done its work.
      world = await openWorld(app)
      return inputOf(world, o, wish)
    })
    await world.setPlan(wish.plan)
    const ready = requestOf(o, wish, { input, credential: world.credential(wish.caller, o) })
    const seen = await exchange(app, ready)
    // The operation may have signed the caller out or removed them: start again with a new world.
    if (seen.status === 401 && !strangers.includes(wish.caller)) world = undefined
    result.requests++
    result.statuses[seen.status] = (result.statuses[seen.status] ?? 0) + 1
    for (const finding of findingsOf(judge, o, ready, seen))
      result.findings.push({ ...finding, request: describedRequest(ready, wish) })
  }
  return { ...result, findings: result.findings.slice(0, MOST_FINDINGS) }
}

/**
 * Runs on a server and a database of its own; `onDone` gets each operation's result as it finishes.
 */
export const fuzz = async (
  options: FuzzOptions,
  onDone: (one: Fuzzed) => void = () => {},
): Promise<Fuzzed[]> => {
  // Made before anything runs: a long computation would keep the server, in the same process, from
  // its transactions.
  const waiting = targets.map((o) => taskOf(o, options))
  await using app = await testApp()
  const judge = judgeOf(
    (await app.send('GET', '/api/v1/openapi.json', { key: null })).body as unknown as Document,
  )
  const results: Fuzzed[] = []
  const work = async () => {
    for (let task = waiting.shift(); task; task = waiting.shift()) {
      const one = await fuzzOne(app, judge, task)
      onDone(one)
      results.push(one)
    }
  }
  await Promise.all(Array.from({ length: options.parallel }, work))
  return results
}

/** The last line of a run. */
export const summaryOf = (results: Fuzzed[]): string => {
  const count = (kind: Finding['kind']) =>
    results.flatMap(({ findings }) => findings).filter((one) => one.kind === kind).length
  const requests = results.reduce((sum, one) => sum + one.requests, 0)
  return `fuzz: operations=${results.length} requests=${requests} failed=${count('failed')} undocumented=${count('undocumented')} mismatched=${count('mismatched')}`
}
