/**
 * Playbooks and their versions: the routes with each of their answers, what the agent reads and
 * proposes, and who lets it hold.
 */
import { describe, expect, test } from 'bun:test'
import { playbookLimits } from '#domain/agent/knowledge/playbook'
import { newId } from '#kernel/ids'
import { LAUNCH, playbookModel, playbookStory } from '#test/support/agent/playbooks'
import { makePlaybook } from '#test/support/agent/records'
import { useApp } from '#test/support/use'

const model = playbookModel()
const app = useApp({ overrides: { thinker: model.thinker } })
const setUp = () => playbookStory(app, model)

describe('a playbook', () => {
  test('is added with its first version active, and 201', async () => {
    const { create, show, person } = await setUp()
    const { status, body } = await create(
      { description: 'For every launch', pinned: true },
      person.key,
    )
    expect([status, body.playbook]).toEqual([
      201,
      {
        ...LAUNCH,
        id: expect.any(String),
        description: 'For every launch',
        pinned: true,
        status: 'active',
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ])
    const author = { kind: 'session', id: person.sessionId, personId: person.personId }
    expect((await show(body.playbook.id)).versions).toMatchObject([
      {
        number: 1,
        content: LAUNCH.content,
        state: 'active',
        untrusted: false,
        rationale: null,
        author,
        decidedBy: author,
      },
    ])
  })

  const wrong: [string, object][] = [
    ['a slug in capitals', { slug: 'Launch' }],
    ['a slug that begins with a dash', { slug: '-launch' }],
  ]
  test.each(wrong)('with %s is 400', async (_, body) => {
    const { create } = await setUp()
    expect((await create(body)).status).toBe(400)
  })

  test('of a slug that exists is 409, archived or not, and of another workspace it is not', async () => {
    const { create, made, send } = await setUp()
    const { id } = await made()
    const { status, body } = await create()
    expect([status, body.error.message]).toEqual([
      409,
      expect.stringContaining('the slug launch-posts exists'),
    ])
    await send('PATCH', `playbooks/${id}`, { status: 'archived' })
    expect((await create()).status).toBe(409)
    expect((await (await setUp()).create({ slug: 'a'.repeat(64) })).status).toBe(201)
  })

  test('is 400 as the 101st active one, and pinned as the 11th', async () => {
    const { create, made, send, ...surface } = await setUp()
    for (let n = 0; n < 10; n++) await makePlaybook(surface, { slug: `pinned-${n}`, pinned: true })
    expect((await create({ pinned: true })).body.error.details[0].path).toBe('pinned')
    const { id } = await made()
    expect((await send('PATCH', `playbooks/${id}`, { pinned: true })).status).toBe(400)
    for (let n = 11; n < 100; n++) await makePlaybook(surface, { slug: `more-${n}` })
    expect((await create({ slug: 'another' })).body.error.message).toContain(
      'at most 100 active playbooks',
    )
    await send('PATCH', `playbooks/${id}`, { status: 'archived' })
    expect((await create({ slug: 'another' })).status).toBe(201)
    expect((await send('PATCH', `playbooks/${id}`, { status: 'active' })).status).toBe(400)
  })

  test('is listed newest first, by pages and status, and changes by PATCH', async () => {
    const { made, send } = await setUp()
    const [one, two] = [await made(), await made({ slug: 'other' })]
    const list = async (query = '') => (await send('GET', `playbooks${query}`)).body
    expect((await list()).playbooks).toEqual([two, one])
    const first = await list('?limit=1')
    expect((await list(`?limit=1&cursor=${first.nextCursor}`)).playbooks).toEqual([one])
    const { status, body } = await send('PATCH', `playbooks/${one.id}`, {
      name: ' Launches ',
      description: 'New',
      status: 'archived',
    })
    expect([status, body.playbook]).toEqual([
      200,
      {
        ...one,
        name: 'Launches',
        description: 'New',
        status: 'archived',
        updatedAt: body.playbook.updatedAt,
      },
    ])
    expect((await list('?status=archived')).playbooks).toEqual([body.playbook])
    expect((await list('?status=active')).playbooks).toEqual([two])
  })
})

describe('a version', () => {
  test('is a draft that changes nothing, until it is activated; then the former one is retired', async () => {
    const { made, draft, decide, show, statesOf, says } = await setUp()
    const { id } = await made({ pinned: true })
    const two = await draft(id)
    expect([two.number, two.state, (await show(id)).playbook.content]).toEqual([
      2,
      'draft',
      LAUNCH.content,
    ])
    expect((await says(() => ({ text: 'Done.' }))).system).toContain(LAUNCH.content)
    const { status, body } = await decide(id, two.id, 'activate')
    expect([status, body.version.state, (await show(id)).playbook.content]).toEqual([
      200,
      'active',
      'Never mention the price.',
    ])
    expect(await statesOf(id)).toEqual([
      [2, 'active'],
      [1, 'retired'],
    ])
    expect((await says(() => ({ text: 'Done.' }))).system).toContain('Never mention the price.')
  })

  test('in a state from which it does not go on is 400, and that of another is 404', async () => {
    const { made, draft, decide, show, statesOf } = await setUp()
    const { id } = await made()
    const [two, three] = [await draft(id), await draft(id)]
    const one = (await show(id)).versions.at(-1)
    expect((await decide(id, two.id, 'reject')).body.version).toMatchObject({
      state: 'rejected',
      decidedBy: { kind: 'key' },
    })
    const refused: [string, 'activate' | 'reject'][] = [
      [two.id, 'activate'],
      [two.id, 'reject'],
      [one.id, 'activate'],
      [one.id, 'reject'],
    ]
    for (const [version, what] of refused)
      expect((await decide(id, version, what)).status).toBe(400)
    await decide(id, three.id, 'activate')
    expect((await decide(id, one.id, 'reject')).status).toBe(400)
    expect((await decide(id, one.id, 'activate')).status).toBe(200)
    expect(await statesOf(id)).toEqual([
      [3, 'retired'],
      [2, 'rejected'],
      [1, 'active'],
    ])
    const other = await made({ slug: 'other' })
    for (const what of ['activate', 'reject'] as const)
      expect((await decide(other.id, one.id, what)).status).toBe(404)
  })

  test(`makes room where there are ${playbookLimits.versions}: the oldest decided one goes, a draft never`, async () => {
    const { made, draft, decide, statesOf, send } = await setUp()
    const { id } = await made()
    const two = await draft(id)
    for (let number = 3; number <= playbookLimits.versions; number++) await draft(id)
    const { status, body } = await send('POST', `playbooks/${id}/versions`, { content: 'One more' })
    expect([status, body.error.message]).toEqual([
      400,
      expect.stringContaining('drafts of this playbook wait for a decision'),
    ])
    await decide(id, two.id, 'reject')
    expect((await draft(id)).number).toBe(playbookLimits.versions + 1)
    const states = await statesOf(id)
    expect([states.length, states.at(-1), states.at(-2)]).toEqual([
      playbookLimits.versions,
      [1, 'active'],
      [3, 'draft'],
    ])
  })

  test('is read by its id, with its playbook and the one that holds instead of it', async () => {
    const { made, draft, send, show } = await setUp()
    const { id } = await made()
    const two = await draft(id)
    const { playbook, versions } = await show(id)
    const read = (versionId: string) => send('GET', `playbook-versions/${versionId}`)
    expect((await read(two.id)).body).toEqual({
      playbook,
      version: versions[0],
      active: versions[1],
    })
    expect((await read(versions[1].id)).body).toEqual({
      playbook,
      version: versions[1],
      active: null,
    })
    expect((await read(id)).status).toBe(404)
  })

  test('two activations at once leave one active', async () => {
    const { made, draft, decide, statesOf } = await setUp()
    const { id } = await made()
    const drafts = await Promise.all([draft(id), draft(id), draft(id)])
    await Promise.all(drafts.map((one) => decide(id, one.id, 'activate')))
    const states = (await statesOf(id)).map(([, state]: [number, string]) => state)
    expect(states.sort()).toEqual(['active', 'retired', 'retired', 'retired'])
  })

  test('that a job wrote is activated by a person who may, and by no key; any may be rejected by a key', async () => {
    const { made, draft, decide, as, key } = await setUp()
    const { id } = await made()
    const [two, three] = [
      await draft(id, 'Two', { kind: 'agent', id: newId() }),
      await draft(id, 'Three', { kind: 'agent', id: newId() }),
    ]
    expect((await decide(id, two.id, 'activate', key)).body.error.code).toBe('forbidden')
    expect((await decide(id, two.id, 'activate', await as('editor'))).status).toBe(403)
    expect((await decide(id, two.id, 'activate', await as('approver'))).status).toBe(200)
    expect((await decide(id, three.id, 'reject', key)).status).toBe(200)
    // A person has decided about it before.
    const one = await draft(id, 'Four', { kind: 'key', id: newId() })
    await decide(id, one.id, 'activate', key)
    expect((await decide(id, two.id, 'activate', key)).status).toBe(200)
  })
})
