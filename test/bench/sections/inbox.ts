/**
 * All that waits for a person, beside the newest drafts alone: 10,000 drafts of many batches, and
 * as many calls of the agent as asked for. Both take turns.
 */
import { newId } from '#kernel/ids'
import { ask } from '../client.ts'
import { type Contestant, figuresOf, peerOf, type Turn, takeTurns, warmUp } from '../contest.ts'
import { median, type Row } from '../figures.ts'
import { get } from '../requests.ts'
import { type Running, sendOnce } from '../spawn.ts'
import { addDrafts, startServer, type Tenant, type World } from '../world.ts'

interface Sizes {
  drafts: number
  calls: number
  /** Requests of each turn. */
  requests: number
  rounds: number
}

const DRAFTS_OF_BATCH = 20
/** The list takes at most so many times the p99 of the newest drafts. */
const MOST_TIMES = 3
const WARM_UPS = 20

/** Drafts in batches, and calls of which a third ask to approve one of them. */
export const fillInbox = async (
  { owner }: Pick<World, 'owner'>,
  tenant: Tenant,
  { drafts, calls }: Pick<Sizes, 'drafts' | 'calls'>,
): Promise<void> => {
  const ids = (await addDrafts(owner, [tenant], drafts)).map(({ id }) => id)
  const batches = Array.from({ length: drafts / DRAFTS_OF_BATCH }, () => newId())
  await owner`insert into batch (id, tenant_id, status, focus, requested, created_at, updated_at)
    select id, ${tenant.id}, 'ready', 'late deliveries', ${DRAFTS_OF_BATCH}, now(), now()
      from unnest(${batches}::uuid[]) id`
  await owner`update item set batch_id = b.id, source_kind = 'batch', source_id = b.id
    from unnest(${ids}::uuid[]) with ordinality d (id, n)
      join unnest(${batches}::uuid[]) with ordinality b (id, n) on b.n = (d.n - 1) / ${DRAFTS_OF_BATCH} + 1
    where item.tenant_id = ${tenant.id} and item.id = d.id`
  await owner`insert into agent_approval (id, tenant_id, job_id, step_id, goal, tool_name, summary,
      arguments, arguments_hash, subject, subject_id, why, status, expires_at, created_at,
      updated_at)
    select gen_random_uuid(), ${tenant.id}, gen_random_uuid(), gen_random_uuid(), 'goal',
      case when n % 3 = 0 then 'growth_approve_item' else 'growth_resume_automation' end, 'Do it',
      '{}', n::text, jsonb_build_object('records', jsonb_build_array(jsonb_build_object('kind',
        'item', 'id', d, 'sha256', '')), 'account', null, 'text', null, 'sha256', null), d,
      '["publishes"]', 'pending', now() + n * interval '1 hour', now(), now()
    from unnest(${ids.slice(0, calls)}::uuid[]) with ordinality c (d, n)`
  for (const table of ['item', 'item_word', 'agent_approval', 'batch'])
    await owner.unsafe(`vacuum analyze ${table}`)
}

interface Asked {
  what: string
  path: string
}

const paths = async (server: Running, tenant: Tenant): Promise<Asked[]> => {
  const { next_cursor } = await ask(server, tenant, 'GET', 'inbox?kind=draft&limit=100')
  return [
    { what: 'the first page', path: 'inbox' },
    { what: 'a later page', path: `inbox?cursor=${next_cursor}` },
    { what: 'the drafts', path: 'inbox?kind=draft' },
    { what: 'a word of all of them', path: 'inbox?q=dock' },
  ]
}

const p99 = (turns: Turn[]): number => median(turns.map((one) => one.p99))

export async function inbox(world: World, { requests, rounds, ...sizes }: Sizes): Promise<Row[]> {
  const tenant = world.tenants[0]!
  await fillInbox(world, tenant, sizes)
  await using server = await startServer(world)
  const contestant = ({ what, path }: Asked): Contestant => ({
    name: what,
    pid: server.pid,
    run: () =>
      sendOnce(
        server.port,
        1,
        Array.from({ length: requests }, () => get(`/api/v1/${path}`, tenant)),
      ),
  })
  const asked = await paths(server, tenant)
  const newest = { what: 'the newest drafts', path: 'growth/items?status=drafted' }
  const contestants = [newest, ...asked].map(contestant)
  await warmUp(
    server.pid,
    async () => void (await takeTurns(world.owner, contestants, 1)),
    WARM_UPS,
  )
  const [items = [], ...ours] = await takeTurns(world.owner, contestants, rounds)
  const among = `${sizes.drafts.toLocaleString('en')} drafts and ${sizes.calls.toLocaleString('en')} calls`
  return asked.map(({ what, path }, index) => {
    const turns = ours[index]!
    return {
      what: `all that waits, ${what}, of ${among}`,
      figures: figuresOf(turns),
      peers: [{ ...peerOf(newest.what, turns, items), ratio: p99(items) / p99(turns) }],
      goals: path.includes('q=') ? [] : [{ of: 'ratio', atLeast: 1 / MOST_TIMES, by: 'p99' }],
    }
  })
}
