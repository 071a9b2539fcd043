/**
 * Documents: search among many passages of one workspace, beside other ways to search them; and how
 * fast documents are read.
 */
import { ask } from '../client.ts'
import { measureOnce } from '../contest.ts'
import { type Figures, median, type Row } from '../figures.ts'
import { residentMiB } from '../meter.ts'
import { get } from '../requests.ts'
import type { Running } from '../spawn.ts'
import { startServer, type Tenant, type World } from '../world.ts'
import { documentText, fillDocuments, wordAt } from './documents-stage.ts'

export interface Sizes {
  documents: number
  /** Queries of each way to search; of the slow ones a tenth. */
  queries: number
  /** Documents that are read. */
  added: number
}

/** Ranks of words that people ask for: one that is everywhere, beside rarer ones. */
const queriesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, n) =>
    [2 + (n % 40), 300 + n * 7, 5_000 + n * 31]
      .slice(n % 2)
      .map(wordAt)
      .join(' '),
  )

const quantileOf = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!

const timesOf = (times: number[]): Figures => {
  const sorted = times.toSorted((a, b) => a - b)
  const total = times.reduce((sum, one) => sum + one, 0)
  return {
    perSecond: (times.length * 1_000) / total,
    p50Ms: quantileOf(sorted, 0.5),
    p99Ms: quantileOf(sorted, 0.99),
  }
}

const timed = async (
  queries: string[],
  ask: (query: string) => PromiseLike<unknown>,
): Promise<Figures> => {
  const times: number[] = []
  for (const query of queries) {
    const began = performance.now()
    await ask(query)
    times.push(performance.now() - began)
  }
  return timesOf(times)
}

const ANY = `replace(plainto_tsquery('english', $1)::text, '&', '|')::tsquery`
const RANKED = `select document_id, number, ts_rank_cd(words, q) as score from peer.passage, (select ${ANY} as q) asked
  where words @@ q order by score desc limit 10`

/**
 * Ways to search the same passages in the same database; the first as a workspace's own pool, under
 * row-level security.
 */
const others = async (
  { owner }: World,
  tenant: Tenant,
  queries: string[],
): Promise<[string, Figures][]> => {
  const few = queries.slice(0, Math.ceil(queries.length / 10))
  const asTenant = (statement: string, query: string) =>
    owner.begin(async (sql) => {
      await sql`select set_config('role', 'tendril_app', true),
        set_config('app.tenant', ${tenant.id}, true)`
      await sql.unsafe(statement, [query])
    })
  const like = `select document_id, number from peer.passage where text ilike '%' || split_part($1, ' ', 1) || '%' limit 10000`
  return [
    [
      '`@@` and a GIN index, under row-level security',
      await timed(few, (query) => asTenant(RANKED, query)),
    ],
    [
      'the same past row-level security',
      await timed(queries, (query) => owner.unsafe(RANKED, [query])),
    ],
    ['`ilike` for one word', await timed(few, (query) => asTenant(like, query))],
  ]
}

const search = async (
  world: World,
  server: Running,
  tenant: Tenant,
  { documents, queries }: Sizes,
): Promise<Row> => {
  const words = queriesOf(queries)
  const requests = words.map((query) =>
    get(`/api/v1/documents/search?q=${encodeURIComponent(query)}`, tenant),
  )
  const { statuses, ...figures } = await measureOnce(world, server, requests)
  if (statuses['200'] !== queries)
    throw new Error(`of ${queries} searches: ${JSON.stringify(statuses)}`)
  const peers = (await others(world, tenant, words)).map(([name, theirs]) => ({
    name,
    figures: theirs,
    ratio: theirs.p50Ms! / figures.p50Ms!,
  }))
  return {
    what: `a search of ${documents.toLocaleString('en')} documents, ${(20 * documents).toLocaleString('en')} passages, with its quotations`,
    figures,
    peers,
  }
}

const add = (server: Running, tenant: Tenant, content: string): Promise<unknown> =>
  ask(server, tenant, 'POST', 'documents', { fileName: 'notes.txt', content })

const untilRead = async ({ owner }: World, tenant: Tenant): Promise<void> => {
  while (
    (await owner`select 1 from work where tenant_id = ${tenant.id} and kind = 'ingest' limit 1`)
      .length > 0
  )
    await Bun.sleep(5)
}

/**
 * Asks for something small again and again, until told to stop; the times that took. `p50Ms` and
 * `longestMs` are those of these reads.
 */
const probing = (server: Running, tenant: Tenant) => {
  const times: number[] = []
  let goesOn = true
  const done = (async () => {
    while (goesOn) {
      const began = performance.now()
      await ask(server, tenant, 'GET', 'growth/items?limit=1')
      times.push(performance.now() - began)
    }
  })()
  return async (): Promise<number[]> => {
    goesOn = false
    await done
    return times
  }
}

const reading = async (
  world: World,
  server: Running,
  tenant: Tenant,
  texts: string[],
): Promise<Figures> => {
  const stop = probing(server, tenant)
  const began = performance.now()
  for (const text of texts) await add(server, tenant, text)
  await untilRead(world, tenant)
  const ms = performance.now() - began
  const times = await stop()
  return {
    ms: ms / texts.length,
    perSecond: (texts.length * 1_000) / ms,
    longestMs: Math.max(...times),
    p50Ms: median(times),
    mib: residentMiB(server.pid) ?? Number.NaN,
  }
}

const MEGABYTE = 1_000_000

/** One-line and odd texts of a megabyte. */
const odd: [what: string, text: () => string][] = [
  [
    'words on one line',
    () =>
      Array.from({ length: 200_000 }, (_, n) => wordAt((n * 7_919) % 30_011))
        .join(' ')
        .slice(0, MEGABYTE),
  ],
  [
    'headings and a line each',
    () =>
      Array.from({ length: 1_000 }, (_, n) => `# Heading ${n}\n\n${'some words '.repeat(85)}${n}`)
        .join('\n\n')
        .slice(0, MEGABYTE),
  ],
  ['Japanese', () => '今日は天気がいいので散歩に行きます。'.repeat(18_000)],
]

export async function documents(
  world: World,
  sizes: Sizes,
  measured: () => PromiseLike<unknown> = async () => {},
): Promise<Row[]> {
  const [tenant] = world.tenants
  await world.owner`update tenant set overrides = '{"documents": 1000000}' where id = ${tenant!.id}`
  await fillDocuments(world, tenant!, sizes.documents)
  await measured()
  await using server = await startServer(world)
  const rows = [await search(world, server, tenant!, sizes)]
  const texts = Array.from({ length: sizes.added }, documentText)
  rows.push({
    what: 'a document of 20 passages, 23 KB: added and read, among those',
    figures: await reading(world, server, tenant!, texts),
  })
  for (const [what, text] of odd)
    rows.push({
      what: `a megabyte of ${what}: added and read`,
      figures: await reading(world, server, tenant!, [text()]),
    })
  return rows
}
