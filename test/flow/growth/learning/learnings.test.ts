/**
 * Learnings over HTTP: added, listed, retired; and how they change the drafts of the next batch.
 */
import { describe, expect, test } from 'bun:test'
import { MOST_ACTIVE_LEARNINGS } from '#domain/growth/learning/learning'
import { softwareProfile } from '#test/support/growth/profiles'
import { newStory } from '#test/support/growth/story'
import { sameSeed } from '#test/support/model/same-seed'
import { useApp } from '#test/support/use'

const app = useApp({ overrides: { drafter: sameSeed } })

interface Kept {
  id: string
  kind: string
  note: string
  status: string
}

/** A new workspace, without learnings of other tests. */
const setUp = async () => {
  const { tenantId, send: ask, ended } = await newStory(app)
  const send = (method: string, path: string, body?: unknown) => ask(method, path, { body })
  return {
    tenantId,
    send,
    ended,
    async add(kind: string, note: string): Promise<Kept> {
      const { status, body } = await send('POST', 'learnings', { kind, note })
      expect(status).toBe(201)
      return body.learning
    },
    list: async (query = ''): Promise<Kept[]> =>
      (await send('GET', `learnings${query}`)).body.learnings,
    retire: (id: string) => send('POST', `learnings/${id}/retire`),
  }
}

describe('learnings', () => {
  test('are added, listed newest first, filtered, and shown in the overview while active', async () => {
    const { send, add, list, retire } = await setUp()
    const first = await add('worked', '  Numbers first ')
    const second = await add('flopped', 'Question posts')
    expect(first).toMatchObject({ kind: 'worked', note: 'Numbers first', status: 'active' })
    expect(await list()).toEqual([second, first])
    expect(await list('?kind=flopped')).toEqual([second])
    expect((await retire(first.id)).status).toBe(200)
    expect((await list('?status=retired')).map(({ id, status }) => ({ id, status }))).toEqual([
      { id: first.id, status: 'retired' },
    ])
    expect(await list('?status=active&kind=worked')).toEqual([])
    expect((await send('GET', 'overview')).body.overview.learnings).toEqual([second])
  })

  test('can be retired; a second request changes nothing', async () => {
    const { add, retire } = await setUp()
    const { id } = await add('hypothesis', 'Shorter is better')
    const { learning } = (await retire(id)).body
    expect(learning).toMatchObject({ id, status: 'retired' })
    const again = await retire(id)
    expect([again.status, again.body]).toEqual([200, { learning }])
    expect(
      await app.owner`select 1 from audit where ref_id = ${id}
        and operation = 'growth.learnings.retire'`,
    ).toHaveLength(1)
  })

  test('need a note, and may be no more than fit into a brief', async () => {
    const { tenantId, send, add, retire } = await setUp()
    const blank = await send('POST', 'learnings', { kind: 'worked', note: ' \n' })
    expect(blank.body.error?.details?.[0]?.path).toBe('note')
    const last = await add('worked', 'The first of them')
    await app.owner`insert into learning (id, tenant_id, kind, note, status, created_at, updated_at)
      select gen_random_uuid(), ${tenantId}, 'worked', 'Note ' || n, 'active', now(), now()
        from generate_series(2, ${MOST_ACTIVE_LEARNINGS}) n`
    const full = await send('POST', 'learnings', { kind: 'worked', note: 'One too many' })
    expect([full.status, full.body.error?.code]).toEqual([409, 'conflict'])
    expect((await retire(last.id)).status).toBe(200)
    expect((await send('POST', 'learnings', { kind: 'worked', note: 'One too many' })).status).toBe(
      201,
    )
  })
})

test('learnings of what worked and what flopped change the next batch until they are retired', async () => {
  const { send, add, retire, ended } = await setUp()
  await send('PUT', 'profile', { writing_dna: softwareProfile.writing_dna })
  const batch = async (): Promise<{ body: string; learnings: string[] }[]> => {
    const { id } = (await send('POST', 'batches', { count: 3 })).body.batch
    return (await ended(`batches/${id}`)).items
  }
  const bodies = (drafts: { body: string }[]) => drafts.map(({ body }) => body)
  const hires = (drafts: { body: string }[]) =>
    drafts.filter(({ body }) => body.includes('sales hire')).length
  const before = await batch()
  expect(before.flatMap(({ learnings }) => learnings)).toEqual([])

  const worked = await add('worked', 'The first sales hire')
  const flopped = await add('flopped', 'Question posts')
  const steered = await batch()
  expect([hires(before), hires(steered)]).toEqual([0, 1])
  expect(steered.find(({ body }) => body.includes('sales hire'))!.learnings).toContain(worked.id)
  expect(bodies(before).some((body) => body.endsWith('?'))).toBeTrue()
  expect(bodies(steered).some((body) => body.endsWith('?'))).toBeFalse()
  for (const { learnings } of steered) expect(learnings).toContain(flopped.id)

  for (const { id } of [worked, flopped]) expect((await retire(id)).status).toBe(200)
  const after = await batch()
  expect(bodies(after)).toEqual(bodies(before))
  expect(after.flatMap(({ learnings }) => learnings)).toEqual([])
})
