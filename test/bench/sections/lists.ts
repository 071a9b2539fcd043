/**
 * Lists of items: each thing that they are asked for beside the plain newest page, and by which
 * index the items are found.
 */

import { type Db, openDb, type Query } from '#store/engine/db'
import { isPlain } from '#store/growth/item-filter'
import { findItems, itemTotal } from '#store/growth/item-lists'
import { listItems } from '#store/growth/items'
import { ask } from '../client.ts'
import { measureOnce } from '../contest.ts'
import type { Figures, Peer, Row } from '../figures.ts'
import { get } from '../requests.ts'
import type { Running } from '../spawn.ts'
import { startServer, type Tenant, type World } from '../world.ts'
import { newest, type Pair, pairs } from './lists-pairs.ts'
import { fillItems } from './lists-stage.ts'

export interface Sizes {
  /** Items of the large workspace. */
  items: number
  /** Requests of each kind. */
  requests: number
}

/** Items of each of the small workspaces. */
const FEW = 100
const LIMIT = 25
/** Measurements of the newest page that are not counted: the server is not fast from its start. */
const WARM_UPS = 5
const TICK_US = 10_000
/** A list takes at most so many times the processor time of the newest page. */
const MOST_TIMES = 10

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  Plans?: PlanNode[]
}
const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const explained = (db: Db, tenant: Tenant, query: Query): Promise<PlanNode[]> =>
  db.letter(tenant.id, async (sql) => {
    await sql`select set_config('app.tenant', ${tenant.id}, true)`
    const [row] = await sql<{
      'QUERY PLAN': { Plan: PlanNode }[]
    }>`explain (format json) ${query(sql)}`
    return nodesOf(row!['QUERY PLAN'][0]!.Plan)
  })

/** By which of its indexes the items are found, in words. Fails if a plan reads a whole table. */
const planOf = async (
  db: Db,
  tenant: Tenant,
  { what, asks, indexes, total }: Pair,
): Promise<string> => {
  const { filter } = asks(tenant, 1)
  const page = isPlain(filter)
    ? listItems({ limit: LIMIT, status: filter.statuses?.[0] })
    : findItems(filter, { limit: LIMIT })
  const [nodes, counting] = [
    await explained(db, tenant, page),
    total ? await explained(db, tenant, itemTotal(filter).query) : [],
  ]
  const isScan = (node: PlanNode) =>
    node['Node Type'] === 'Seq Scan' && ['item', 'item_word'].includes(node['Relation Name'] ?? '')
  if ([...nodes, ...counting].some(isScan)) throw new Error(`items ${what}: a sequential scan`)
  const used = new Set(nodes.flatMap((node) => node['Index Name'] ?? []))
  const expected = indexes.filter((index) => used.has(index))
  return expected.length > 0
    ? `by ${expected.join(' and ')}`
    : `**not by ${indexes.join(' or ')}**, but by ${[...used].join(', ')}`
}

const pathOf = (query: string, more = ''): string =>
  `growth/items?${[query, more].filter(Boolean).join('&')}`

/** The cursor behind so many pages of 100. */
const cursorAfter = async (
  server: Running,
  tenant: Tenant,
  query: string,
  pages: number,
): Promise<string> => {
  let cursor = ''
  for (let page = 0; page < pages; page++) {
    const path = pathOf(query, `limit=100${cursor && `&cursor=${cursor}`}`)
    const { next_cursor } = await ask(server, tenant, 'GET', path)
    if (!next_cursor) throw new Error(`no page ${page + 2} of ${path}`)
    cursor = next_cursor
  }
  return cursor
}

const requestsOf = async (
  server: Running,
  tenants: Tenant[],
  pair: Pair,
  count: number,
): Promise<string[]> => {
  const { query } = pair.asks(tenants[0]!, 0)
  const cursor = pair.deep
    ? `cursor=${await cursorAfter(server, tenants[0]!, query, pair.deep)}`
    : pair.total
      ? 'total=true'
      : ''
  return Array.from({ length: count }, (_, n) => {
    const tenant = tenants[n % tenants.length]!
    return get(`/api/v1/${pathOf(pair.asks(tenant, n).query, cursor)}`, tenant)
  })
}

const measure = async (world: World, server: Running, requests: string[]): Promise<Figures> => {
  const { statuses: _, ...figures } = await measureOnce(world, server, requests)
  return figures
}

/** The same of a statement that reads the whole table, past HTTP and row-level security. */
const scanned = async ({ owner }: World, tenant: Tenant, scan: string): Promise<Figures> => {
  const times: number[] = []
  await owner.begin(async (sql) => {
    await sql`select set_config('enable_indexscan', 'off', true),
      set_config('enable_bitmapscan', 'off', true)`
    for (let n = 0; n < 3; n++) {
      const began = performance.now()
      await sql.unsafe(
        `select * from item where tenant_id = '${tenant.id}' and ${scan} limit ${LIMIT}`,
      )
      times.push(performance.now() - began)
    }
  })
  return { p50Ms: Math.min(...times) }
}

/** In microseconds; less than what the system counts in is counted as that. */
const processor = ({ serverUs, postgresUs }: Figures, requests: number): number =>
  Math.max(serverUs! + postgresUs!, TICK_US / requests)

interface Stage {
  world: World
  server: Running
  db: Db
  tenants: Tenant[]
  /** Said of each row. */
  among: string
  requests: number
}

const rowsOf = async (
  { world, server, db, tenants, among, requests }: Stage,
  asked: Pair[],
): Promise<Row[]> => {
  const first = tenants[0]!
  const rowOf = async (pair: Pair) => ({
    what: `${pair.what}, ${among}; ${await planOf(db, first, pair)}`,
    figures: await measure(world, server, await requestsOf(server, tenants, pair, requests)),
  })
  for (let n = 0; n < WARM_UPS; n++) await rowOf(newest)
  const plain = await rowOf(newest)
  const rows: Row[] = [plain]
  for (const pair of asked) {
    const { what, figures } = await rowOf(pair)
    const ratio = plain.figures.p50Ms! / figures.p50Ms!
    const peers: Peer[] = [
      {
        name: 'the newest',
        figures: {},
        ratio,
        costRatio: processor(plain.figures, requests) / processor(figures, requests),
      },
    ]
    if (pair.scan) {
      const theirs = await scanned(world, first, pair.scan)
      peers.push({
        name: 'a scan of the table',
        figures: theirs,
        ratio: theirs.p50Ms! / figures.p50Ms!,
      })
    }
    rows.push({ what, figures, peers, goals: [{ of: 'costRatio', atLeast: 1 / MOST_TIMES }] })
  }
  return rows
}

/** What to do next, which looks at items of every state. */
const briefOf = async (
  { world, server, tenants, requests }: Stage,
  items: number,
): Promise<Row> => ({
  what: `a brief with its rows, of ${items.toLocaleString('en')} items of one workspace`,
  figures: await measure(
    world,
    server,
    Array.from({ length: requests }, () => get('/api/v1/growth/brief?include=items', tenants[0]!)),
  ),
  goals: [{ of: 'p50Ms', atMost: 100 }],
})

export async function lists(world: World, { items, requests }: Sizes): Promise<Row[]> {
  const [large, ...small] = world.tenants as [Tenant, ...Tenant[]]
  await fillItems(world, [large], items)
  await fillItems(world, small, FEW)
  await using server = await startServer(world)
  await using db = openDb({ ...world.options, max: 1 })
  const stage = { world, server, db, requests }
  const ofLarge = {
    ...stage,
    tenants: [large],
    among: `of ${items.toLocaleString('en')} of one workspace`,
  }
  const ofSmall = {
    ...stage,
    tenants: small,
    among: `of ${FEW} of each of ${small.length.toLocaleString('en')} workspaces`,
  }
  const shallow = pairs.filter(({ deep }) => !deep)
  const inLarge = pairs.filter(({ deep = 0 }) => deep * 100 < items / 2)
  return [
    ...(await rowsOf(ofLarge, inLarge)),
    await briefOf(ofLarge, items),
    ...(await rowsOf(ofSmall, shallow)),
  ]
}
