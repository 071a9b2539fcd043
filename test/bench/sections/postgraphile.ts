/**
 * The list of items beside PostGraphile over the same tables: a peer that isolates tenants by
 * row-level security as we do.
 */
import { type Contestant, figuresOf, peerOf, takeTurns, warmUp } from '../contest.ts'
import type { Row } from '../figures.ts'
import { PRODUCTION, peerCommand } from '../peers.ts'
import { get, requestOf } from '../requests.ts'
import { load, type Running, startProcess } from '../spawn.ts'
import type { Tenant, World } from '../world.ts'

/** What our answer says: the fields of five items, and whether and where the list goes on. */
const QUERY = `query {
  allItems(first: 5, orderBy: PRIMARY_KEY_DESC) {
    nodes {
      rowId batchId experimentId arm resurfacedFrom sourceKind sourceId kind title status review body format hook rationale
      stories learnings length postAt onMissed accountExternalId rejectReason externalId url postedAt lastError metrics tags
      note proposedAt revision writtenBy decision comments redraft createdAt updatedAt
    }
    pageInfo { endCursor hasNextPage }
  }
}`
const BODY = JSON.stringify({ query: QUERY })
const CALLERS = 32

const ask = ({ id }: Tenant): string =>
  requestOf('POST /graphql', { 'x-tenant': id, 'content-type': 'application/json' }, BODY)

/** GraphQL answers an error with success, so the first answer is read: five items and no error. */
const tried = async ({ port }: Running, { id }: Tenant): Promise<void> => {
  const headers = { 'x-tenant': id, 'content-type': 'application/json' }
  const answer = await (
    await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body: BODY })
  ).json()
  const { data, errors } = answer as {
    data?: { allItems?: { nodes?: unknown[] } }
    errors?: unknown
  }
  if (errors || data?.allItems?.nodes?.length !== 5)
    throw new Error(`PostGraphile answered ${JSON.stringify(answer).slice(0, 500)}`)
}

export const besidePostgraphile = async (
  world: World,
  server: Running,
  { seconds, rounds, warmUpSeconds }: { seconds: number; rounds: number; warmUpSeconds: number },
): Promise<Row> => {
  await using peer = await startProcess(await peerCommand('postgraphile'), {
    ...world.env,
    ...PRODUCTION,
  })
  await tried(peer, world.tenants[0]!)
  const contestant = (
    name: string,
    { port, pid }: Running,
    request: (tenant: Tenant) => string,
  ): Contestant & { warm(): Promise<void> } => {
    const plan = { port, callers: CALLERS, warmUpSeconds: 0, requests: world.tenants.map(request) }
    return {
      name,
      pid,
      run: () => load({ ...plan, seconds }),
      warm: () => warmUp(pid, () => load({ ...plan, seconds: 2 }), warmUpSeconds / 2),
    }
  }
  const contestants = [
    contestant('Tendril', server, (tenant) => get('/api/v1/growth/items?limit=5', tenant)),
    contestant('PostGraphile with row-level security', peer, ask),
  ]
  for (const { warm } of contestants) await warm()
  const [ours, theirs] = await takeTurns(world.owner, contestants, rounds)
  return {
    what: `GET 5 items beside the same over GraphQL, many tenants, ${CALLERS} callers`,
    figures: figuresOf(ours!),
    peers: [peerOf(contestants[1]!.name, ours!, theirs!)],
    goals: [
      { of: 'ratio', atLeast: 4 },
      { of: 'costRatio', atLeast: 4 },
    ],
  }
}
