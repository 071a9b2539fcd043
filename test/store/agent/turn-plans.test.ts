/**
 * What the letters of a turn read of a workspace that has been in use for long, of which its own
 * conversation is a small part: as many blocks as of a new one, before Postgres has statistics and
 * after.
 */
import { expect, test } from 'bun:test'
import { runningParts } from '#actors/work/agent/open'
import { thoughtParts } from '#actors/work/agent/thought'
import { jobPart } from '#store/agent/jobs'
import { saidSince } from '#store/agent/summaries'
import { type Load, loadNow, type Part } from '#store/engine/load'
import { makeConversation, makeJob } from '#test/support/agent/records'
import { newWorkspace, type Workspace } from '#test/support/contract/prepare'
import { planAsRun, takenBack } from '#test/support/database/plans'
import { useApp } from '#test/support/use'

const app = useApp({ newDatabase: true })

const TURNS = 1_000
/** Of a new one, a part reads at most so many. */
const MOST_BLOCKS = 25

/** So many turns that are over, in conversations of ten messages each. */
const addTurns = async ({ tenantId }: Workspace): Promise<void> => {
  await app.owner`with turns as (select gen_random_uuid() as job, gen_random_uuid() as message,
      n, n / 10 as conversation from generate_series(0, ${TURNS - 1}) n),
    conversations as (insert into agent_conversation (id, tenant_id, status, origin, next_seq,
      last_at, created_at, updated_at)
      select gen_random_uuid(), ${tenantId}, 'active', 'app', 11, now(), now(), now()
      from generate_series(0, ${TURNS / 10 - 1}) returning id),
    numbered as (select id, row_number() over () - 1 as conversation from conversations),
    messages as (insert into agent_message (id, tenant_id, conversation_id, seq, role, content,
      author, created_at, updated_at)
      select t.message, ${tenantId}, c.id, t.n % 10 + 1, 'user', 'What is late?',
        '{"kind":"agent","id":"0"}', now(), now()
      from turns t join numbered c on c.conversation = t.conversation)
    insert into agent_job (id, tenant_id, kind, status, goal, root_id, origin, on_behalf, tier,
      model, conversation_id, message_id, ended_at, created_at, updated_at)
    select t.job, ${tenantId}, 'turn', 'completed', 'What is late?', t.job, 'manual', '{}', 'fast',
      'model', c.id, t.message, now(), now(), now()
    from turns t join numbered c on c.conversation = t.conversation`
}

/** The blocks that each part reads, by its name. */
const blocksOf = async ({ tenantId }: Workspace, jobId: string): Promise<Record<string, number>> =>
  takenBack(app.workplace.db, tenantId, async (sql) => {
    const { job } = await loadNow(sql, { job: jobPart(jobId) })
    const parts: Load = {
      ...runningParts(job!, []),
      ...thoughtParts(job!, [], undefined),
      all: saidSince(job!.message_id!, 100),
    }
    const blocks: Record<string, number> = {}
    for (const [name, { query, omitted }] of Object.entries<Part<unknown>>(parts)) {
      if (omitted) continue
      const [top] = await planAsRun(sql, query(sql))
      blocks[name] = top!['Shared Hit Blocks'] + top!['Shared Read Blocks']
    }
    return blocks
  })

const newTurn = async (workspace: Workspace): Promise<string> => {
  const { id: conversation_id, messageId: message_id } = await makeConversation(workspace)
  return (await makeJob(workspace, { conversation_id, message_id })).id
}

test('a turn in a workspace of a thousand reads little more than in a new one, with statistics or without', async () => {
  const workspace = await newWorkspace(app)
  await addTurns(workspace)
  const id = await newTurn(workspace)
  const before = await blocksOf(workspace, id)
  await app.owner`analyze agent_job, agent_message, agent_conversation`
  const after = await blocksOf(workspace, id)
  for (const read of [before, after].map(Object.entries<number>)) {
    expect(read.length).toBeGreaterThan(12)
    expect(read.filter(([, blocks]) => blocks > MOST_BLOCKS)).toEqual([])
  }
})
