/**
 * Experiments over HTTP: batches divided between arms, drafts steered by the note of their arm, and
 * the conclusion from the numbers.
 */
import { describe, expect, test } from 'bun:test'
import { type DraftBrief, noUsage } from '#domain/growth/drafting/draft'
import { MOST_RUNNING, READY_PER_ARM } from '#domain/growth/learning/experiment'
import { newId } from '#kernel/ids'
import { GenerationError } from '#port/model/drafter'
import { setPlan } from '#test/support/database/writes'
import { insertPosted } from '#test/support/growth/posted'
import { newStory } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

/** An arm with this note cannot be drafted. */
const HOPELESS = 'in hexameters'

const app = useApp(() => {
  // Each body says which note it follows and how many recent posts the drafter was given.
  const draft = async ({ trial = 'as ever', count, recent }: DraftBrief) => {
    if (trial === HOPELESS) throw new GenerationError('write plainer')
    const drafts = Array.from({ length: count }, (_, index) => ({
      body: `${trial}: ${recent.length + index}`,
      format: 'point',
      hook: 'none',
      rationale: 'for a test',
      stories: [],
      learnings: [],
    }))
    return { drafts, model: 'fake', usage: { ...noUsage, input_tokens: 10 } }
  }
  const article = () => Promise.reject(new Error('no article is asked for'))
  const reply = () => Promise.reject(new Error('no reply is asked for'))
  return {
    overrides: { drafter: { name: 'fake', atOnce: 20, draft, article, reword: article, reply } },
  }
})

interface Drafted {
  id: string
  body: string
  arm: string | null
  experiment_id: string | null
}

const setUp = async () => {
  const { tenantId, send: ask, ended, used } = await newStory(app)
  const send = (method: string, path: string, body?: unknown) => ask(method, path, { body })
  return {
    tenantId,
    send,
    used,
    async create(more: object = {}) {
      const { status, body } = await send('POST', 'experiments', {
        name: 'Asking',
        hypothesis: 'Posts that end on a question get more replies',
        ...more,
      })
      expect(status).toBe(201)
      return body.experiment
    },
    async batch(experiment_id: string, count: number) {
      const { body } = await send('POST', 'batches', { count, experiment_id })
      return (await ended(`batches/${body.batch.id}`)) as {
        status: string
        error: string | null
        delivered: number
        model: string
        usage: object
        experiment_id: string
        items: Drafted[]
      }
    },
    one: async (id: string) =>
      (await send('GET', 'experiments')).body.experiments.find(
        (one: { id: string }) => one.id === id,
      ),
  }
}
type Opened = Awaited<ReturnType<typeof setUp>>

/**
 * Posted items of an arm, each with this many likes per hundred impressions in its latest metrics.
 */
const measure = async (
  { tenantId }: Opened,
  trial: { id: string; arm: string },
  likes: number[],
): Promise<void> => {
  for (const count of likes) {
    const [old, newest] = [2, 1].map((hours) => new Date(Date.now() - hours * 3_600_000))
    const counts = [
      { at: old!, impressions: 10, likes: 0 },
      { at: newest!, impressions: 100, likes: count },
    ]
    await insertPosted(app, tenantId, { trial, counts })
  }
}

const armsOf = (items: Drafted[]) => items.map(({ arm }) => arm).sort()
const refusal = ({
  status,
  body,
}: {
  status: number
  body: { error?: { code: string; message: string } }
}) => [status, body.error?.code, body.error?.message]

describe('a batch for an experiment', () => {
  test('is divided between the arms, counting earlier batches, and each arm follows its own note only', async () => {
    const { create, batch, one } = await setUp()
    const { id } = await create()
    const first = await batch(id, 5)
    expect(first).toMatchObject({
      status: 'ready',
      experiment_id: id,
      delivered: 5,
      model: 'fake',
      usage: { input_tokens: 20 },
    })
    const second = await batch(id, 3)
    const items = [...first.items, ...second.items]
    expect(armsOf(items)).toEqual([...Array(4).fill('control'), ...Array(4).fill('variant')])
    expect(new Set(items.map(({ body }) => body)).size).toBe(8)
    for (const { arm, experiment_id, body } of items) {
      expect(experiment_id).toBe(id)
      expect(body).toStartWith(arm === 'control' ? 'as ever' : 'Posts that end')
    }
    // The drafter was given the drafts of the arm before.
    expect(items.map(({ body }) => Number(body.split(': ')[1])).sort()).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7,
    ])
    expect((await one(id)).arms).toEqual([
      { name: 'control', note: null, items: 4, posted: 0, measured: 0 },
      {
        name: 'variant',
        note: 'Posts that end on a question get more replies',
        items: 4,
        posted: 0,
        measured: 0,
      },
    ])
  })

  test('is told by its arms, and they no longer count an item that is deleted', async () => {
    const { create, batch, one, send } = await setUp()
    const { id } = await create()
    const { items } = await batch(id, 4)
    const { id: gone } = items.find(({ arm }) => arm === 'control')!
    await send('DELETE', `items/${gone}`)
    const counts = async () => (await one(id)).arms.map((arm: { items: number }) => arm.items)
    expect(await counts()).toEqual([1, 2])
    await send('POST', `items/${gone}/restore`)
    expect(await counts()).toEqual([2, 2])
  })

  test('delivers the arms that could be drafted and gives back the quota of the rest', async () => {
    const workspace = await setUp()
    const { id } = await workspace.create({
      arms: [{ name: 'plain' }, { name: 'verse', note: HOPELESS }],
    })
    const { status, delivered, items } = await workspace.batch(id, 4)
    expect([status, delivered, armsOf(items)]).toEqual(['ready', 2, ['plain', 'plain']])
    expect(await workspace.used('posts')).toBe(2)
    const arms = ['a', 'b'].map((name) => ({ name, note: HOPELESS }))
    const failed = await workspace.batch((await workspace.create({ arms })).id, 2)
    expect([failed.status, failed.error]).toEqual(['failed', 'generation_failed: write plainer'])
  })

  test('is refused for an experiment that is unknown, concluded or not in the plan', async () => {
    const { send, create, tenantId } = await setUp()
    const draft = async (experiment_id: string) =>
      refusal(await send('POST', 'batches', { count: 1, experiment_id }))
    expect(await draft(newId())).toEqual([404, 'not_found', 'no such experiment'])
    const { id } = await create()
    await send('POST', `experiments/${id}/conclude`, { result: 'x' })
    expect(await draft(id)).toEqual([409, 'conflict', 'cannot draft: the experiment is concluded'])
    const { id: other } = await create()
    await setPlan(app, tenantId, { plan: 'free' })
    expect(await draft(other)).toEqual([
      403,
      'plan_feature_disabled',
      'plan_feature_disabled:experiments',
    ])
  })
})

describe('an experiment', () => {
  test('is ready once every arm has enough measured posts, and is concluded from their numbers', async () => {
    const workspace = await setUp()
    const { send, create, one } = workspace
    const { id } = await create()
    await measure(workspace, { id, arm: 'control' }, [1, 2, 3, 2, 1, 2, 3, 2])
    await measure(workspace, { id, arm: 'variant' }, [9, 8, 7, 9, 8, 9, 7])
    expect((await one(id)).ready_to_conclude).toBeFalse()
    await measure(workspace, { id, arm: 'variant' }, [8])
    expect(await one(id)).toMatchObject({
      ready_to_conclude: true,
      arms: [{ measured: READY_PER_ARM }, { measured: READY_PER_ARM }],
    })

    const { status, body } = await send('POST', `experiments/${id}/conclude`, {
      result: ' Supported ',
    })
    expect(status).toBe(200)
    expect(body.experiment).toMatchObject({
      status: 'concluded',
      result: 'Supported',
      ready_to_conclude: false,
    })
    const [control, variant] = body.experiment.comparison.arms
    expect([control.n, control.item_ids.length, variant.n]).toEqual([8, 8, 8])
    expect(control.mean).toBeCloseTo(0.02, 10)
    const [difference] = body.experiment.comparison.against_control
    expect(difference).toMatchObject({ arm: 'variant', reading: 'higher', needed_per_arm: null })
    expect(difference.difference).toBeCloseTo(0.06125, 10)
    expect(difference.interval.low).toBeGreaterThan(0.05)

    await measure(workspace, { id, arm: 'variant' }, [1])
    expect(await one(id)).toEqual(body.experiment)
    expect(refusal(await send('POST', `experiments/${id}/conclude`, { result: 'x' }))).toEqual([
      ...[409, 'conflict', 'cannot conclude: the experiment is concluded'],
    ])
  })

  test('needs distinct names for its arms, and runs beside a limited number of others', async () => {
    const { send, create, tenantId } = await setUp()
    const field = async (body: object) =>
      (await send('POST', 'experiments', { name: 'x', hypothesis: 'x', ...body })).body.error
        ?.details?.[0]?.path
    expect(await field({ arms: [{ name: 'a' }, { name: 'A ' }] })).toBe('arms')
    expect(await field({ name: ' ' })).toBe('name')
    const { id } = await create()
    await app.owner`insert into experiment (id, tenant_id, name, hypothesis, metric, arms, status,
      created_at, updated_at)
      select gen_random_uuid(), ${tenantId}, 'x', 'x', 'likes', '[]', 'running', now(), now()
        from generate_series(2, ${MOST_RUNNING}) n`
    expect((await send('POST', 'experiments', { name: 'x', hypothesis: 'x' })).status).toBe(409)
    await send('POST', `experiments/${id}/conclude`, { result: 'x' })
    expect((await send('POST', 'experiments', { name: 'x', hypothesis: 'x' })).status).toBe(201)
    expect(
      (await send('GET', 'experiments?status=concluded')).body.experiments.map(
        (one: { id: string }) => one.id,
      ),
    ).toEqual([id])
  })
})
