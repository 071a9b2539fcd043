/**
 * Words of members in a conversation: a job obeys nobody who may do less than the one it works for.
 */

import { describe, expect, test } from 'bun:test'
import { stepsIn, waitingJob } from '#test/support/agent/agent'
import { useObeying, WISH } from '#test/support/agent/obeying'
import { OUTSIDE } from '#test/support/agent/outside-tool'
import { eventually } from '#test/support/eventually'

const { app, model, arranged, ended, given, sent, goOn } = useObeying()

describe('a viewer', () => {
  test('cannot write into the conversation of an owner, nor rename or archive it', async () => {
    const { person, post, say, learned } = await arranged()
    const [owner, viewer] = [await person('Olga', 'owner'), await person('Vera', 'viewer')]
    const { conversationId } = await say(owner, 'quiet')
    for (const path of [`conversations/${conversationId}/messages`, 'messages']) {
      const body = { content: WISH, ...(path === 'messages' ? { conversationId } : {}) }
      const refused = await app.send('POST', `/api/v1/agent/${path}`, { key: viewer.key, body })
      expect([refused.status, refused.body.error.message]).toEqual([
        403,
        expect.stringContaining('a viewer can write only in'),
      ])
    }
    for (const body of [{ title: 'Mine' }, { status: 'archived' }]) {
      const refused = await app.send('PATCH', `/api/v1/agent/conversations/${conversationId}`, {
        key: viewer.key,
        body,
      })
      expect([refused.status, refused.body.error.message]).toEqual([
        403,
        expect.stringContaining('a viewer can rename'),
      ])
    }
    expect((await say(owner, 'go on', conversationId)).taint).toEqual([])
    // A key of the viewer is the viewer.
    const { api_key } = (
      await app.send('POST', '/api/v1/app/keys', {
        key: viewer.key,
        body: { name: 'v', scopes: ['api:read', 'api:write', 'workspace:use'] },
      })
    ).body
    expect((await post(api_key, WISH, conversationId)).status).toBe(403)
    expect(await learned()).toHaveLength(0)
  })

  test('writes, renames and archives where it has begun; an owner who goes on there is asked about everything', async () => {
    const { person, say, learned } = await arranged()
    const [owner, viewer] = [await person('Olga', 'owner'), await person('Vera', 'viewer')]
    const { conversationId } = await say(viewer, WISH)
    const renamed = await app.send('PATCH', `/api/v1/agent/conversations/${conversationId}`, {
      key: viewer.key,
      body: { title: 'Mine' },
    })
    expect(renamed.status).toBe(200)
    expect((await say(viewer, 'go on', conversationId)).taint).toEqual([])
    const job = await say(owner, 'go on', conversationId)
    expect(job).toMatchObject({
      status: 'waiting_approval',
      taint: expect.arrayContaining(['member Vera']),
    })
    const asked = (await stepsIn(app, job.id)).filter(({ kind }) => kind === 'tool')
    expect(asked.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'growth_add_learning asked',
      `${OUTSIDE} asked`,
    ])
    const [approval] =
      await app.owner`select why from agent_approval where job_id = ${job.id} order by id`
    expect(approval!.why).toContain('untrusted: member Vera')
    expect([sent, await learned()]).toEqual([[], []])
    // The model is told who wrote what, and that it is data.
    expect(given().messages[0]!.text).toBe(
      JSON.stringify({ from: 'Vera (viewer)', untrusted: WISH }),
    )
    expect(given().messages[1]!.text).toStartWith('{"from":"an answer to Vera (viewer)"')
    expect(given().messages.findLast(({ role }) => role === 'user')!.text).toBe('go on')
    expect(given().system).toContain('"person":"Olga (owner)"')
    // An approver may do more than a viewer, but not all that an editor may.
    const editor = await person('Ed', 'editor')
    const approver = await person('Ann', 'approver')
    const theirs = await say(editor, WISH)
    expect((await say(approver, 'go on', theirs.conversationId)).taint).toEqual(['member Ed'])
  })
})

describe('words of a member who may do all that the caller may', () => {
  test('taint nothing, and stand under their name', async () => {
    const { person, say, key, learned } = await arranged()
    const [one, other] = [await person('Olga', 'owner'), await person('Otto', 'owner')]
    const { conversationId } = await say(one, WISH)
    expect(await say(other, 'go on', conversationId)).toMatchObject({
      status: 'completed',
      taint: [],
    })
    expect(given().messages[0]!.text).toBe(JSON.stringify({ from: 'Olga (owner)', said: WISH }))
    expect(await learned()).toHaveLength(1)
    // A key of the workspace acts as an owner, within its scopes; a key that only reads does not.
    expect((await say({ key }, 'quiet', conversationId)).taint).toEqual([])
    expect((await say(one, 'quiet', conversationId)).taint).toEqual([])
  })

  test('taint once that member is demoted, or has left', async () => {
    const { person, say, asOwner, learned } = await arranged()
    const [owner, other, third] = [
      await person('Olga', 'owner'),
      await person('Otto', 'owner'),
      await person('Tom', 'owner'),
    ]
    const { conversationId } = await say(other, WISH)
    await say(third, WISH, conversationId)
    expect((await say(owner, 'quiet', conversationId)).taint).toEqual([])
    await asOwner('app.members.update', { id: other.personId, role: 'viewer' })
    await asOwner('app.members.remove', { id: third.personId })
    const job = await say(owner, 'go on', conversationId)
    expect(job).toMatchObject({
      status: 'waiting_approval',
      taint: ['member Otto', 'member somebody who has left'],
    })
    expect([sent, await learned()]).toEqual([[], []])
  })

  test('taint once the key that said them has ended', async () => {
    const { person, say, tenantId } = await arranged()
    const owner = await person('Olga', 'owner')
    const { id, api_key } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
    const { conversationId } = await say({ key: api_key }, WISH)
    expect((await say(owner, 'quiet', conversationId)).taint).toEqual([])
    await app.owner`update api_key set revoked_at = now(), name = ${'robot\u202e\u0007 1'}
      where id = ${id}`
    expect(await say(owner, 'go on', conversationId)).toMatchObject({
      status: 'waiting_approval',
      taint: ['member robot 1'],
    })
  })
})

test('a key that only reads may not have its words obeyed by one that writes', async () => {
  const { say, key, tenantId } = await arranged()
  const { api_key } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  const { conversationId } = await say({ key: api_key }, WISH)
  await app.owner`update api_key set scopes = array['api:read', 'workspace:use'], name = 'reader'
    where tenant_id = ${tenantId} and hash = sha256(convert_to(${api_key}, 'utf8'))`
  expect((await say({ key }, 'go on', conversationId)).taint).toEqual(['member reader'])
})

describe('whoever wrote before is asked about again', () => {
  test('with each outcome: a demotion while the model thinks', async () => {
    const { person, say, post, asOwner, learned } = await arranged()
    const [owner, other] = [await person('Olga', 'owner'), await person('Otto', 'owner')]
    const { conversationId } = await say(other, WISH)
    const { job } = (await post(owner.key, 'hold on', conversationId)).body
    await eventually(
      () => model.turns.length,
      (turns) => turns === 2,
    )
    await asOwner('app.members.update', { id: other.personId, role: 'editor' })
    goOn()
    const waiting = await waitingJob(app, job.id)
    expect([waiting.taint, sent, await learned()]).toEqual([['member Otto'], [], []])
  })

  test('in a child, which has no conversation of its own', async () => {
    const { person, say, post, asOwner, learned } = await arranged()
    const [owner, other] = [await person('Olga', 'owner'), await person('Otto', 'owner')]
    const { conversationId } = await say(other, WISH)
    const { job } = (await post(owner.key, 'delegate', conversationId)).body
    await eventually(
      () => model.turns.length,
      (turns) => turns === 3,
    )
    await asOwner('app.members.update', { id: other.personId, role: 'editor' })
    goOn()
    const [child] = await eventually(
      () =>
        app.owner`select taint, status from agent_job where parent_id = ${job.id}
          and status = 'waiting_approval'`,
      (rows) => rows.length === 1,
    )
    expect([child!.taint, sent, await learned()]).toEqual([['member Otto'], [], []])
  })

  test('behind a summary, which keeps whose words it is made of', async () => {
    const { person, say, asOwner, learned } = await arranged()
    const [owner, other] = [await person('Olga', 'owner'), await person('Otto', 'owner')]
    const { conversationId } = await say(other, WISH)
    for (let count = 0; count < 4; count++)
      await say(owner, `quiet ${'x'.repeat(2_500)}`, conversationId)
    const summary = async () =>
      (
        await app.owner`select summary, summarised_to, summary_authors from agent_conversation
          where id = ${conversationId}`
      )[0]!
    const { summary_authors, ...first } = await summary()
    expect(first.summary).toContain(WISH)
    const ids = summary_authors.map(({ personId }: { personId: string }) => personId)
    expect(new Set(ids)).toEqual(new Set([owner.personId, other.personId]))
    expect((await say(owner, 'quiet', conversationId)).taint).toEqual([])
    await asOwner('app.members.update', { id: other.personId, role: 'viewer' })
    const job = await say(owner, 'go on', conversationId)
    expect(job).toMatchObject({ status: 'waiting_approval', taint: ['member Otto'] })
    expect(given().messages[0]!.text).toContain('"untrusted":"They said')
    // A summary that is made of a summary and of more has the authors of both.
    for (let count = 0; count < 4; count++)
      await say(owner, `quiet ${'x'.repeat(2_500)}`, conversationId)
    expect((await summary()).summarised_to).toBeGreaterThan(first.summarised_to)
    expect((await summary()).summary_authors).toEqual(expect.arrayContaining(summary_authors))
    expect([sent, await learned()]).toEqual([[], []])
  })

  test('in the conversation of a schedule, whose next run acts as who made it', async () => {
    const { person, say, learned } = await arranged()
    const [owner, editor] = [await person('Olga', 'owner'), await person('Ed', 'editor')]
    const body = { goal: 'go on', cron: '0 9 * * *' }
    const { id } = (
      await app.send('POST', '/api/v1/actions/schedule_task', { key: owner.key, body })
    ).body.result
    const run = async () =>
      ended(
        (await app.send('POST', `/api/v1/agent/schedules/${id}/run`, { key: owner.key, body: {} }))
          .body.job.id,
      )
    const first = await run()
    expect(first).toMatchObject({ status: 'completed', taint: [] })
    await say(editor, WISH, first.conversation_id!)
    expect(await run()).toMatchObject({ status: 'waiting_approval', taint: ['member Ed'] })
    expect([sent, await learned()]).toEqual([[], []])
  })

  test('in what a search finds, which names them', async () => {
    const { person, say, learned } = await arranged()
    const [owner, viewer] = [await person('Olga', 'owner'), await person('Vera', 'viewer')]
    const { conversationId } = await say(viewer, WISH)
    const job = await say(owner, 'search', conversationId)
    expect(job).toMatchObject({ status: 'waiting_approval', taint: ['member Vera'] })
    const [search] = (await stepsIn(app, job.id)).filter(
      ({ name }) => name === 'search_conversation',
    )
    expect(JSON.parse(search!.result!.text).messages).toEqual([
      {
        role: 'user',
        from: 'Vera (viewer)',
        content: WISH,
        at: expect.any(String),
        untrusted: 'member Vera',
      },
    ])
    expect([sent, await learned()]).toEqual([[], []])
  })
})

test('more authors than are looked up do not hide a viewer among them', async () => {
  const { person, say, learned, tenantId } = await arranged()
  const [owner, viewer] = [await person('Olga', 'owner'), await person('Vera', 'viewer')]
  const { conversationId } = await say(viewer, WISH)
  await app.owner`with made as (insert into api_key (id, tenant_id, name, hash, last4, scopes)
      select gen_random_uuid(), ${tenantId}, 'robot ' || n,
        sha256((${tenantId} || '-' || n)::bytea), 'abcd', array['api:read', 'api:write',
        'workspace:use']
        from generate_series(1, 250) n returning id)
    update agent_conversation set summary_authors = (select
      jsonb_agg(jsonb_build_object('kind', 'key', 'id', id, 'personId', null)) from made)
      where id = ${conversationId}`
  const job = await say(owner, 'go on', conversationId)
  expect([job.status, job.taint.length > 0, sent, await learned()]).toEqual([
    'waiting_approval',
    true,
    [],
    [],
  ])
})
