/**
 * Each kind of memory for each kind of caller: who is shown it, gives it to a model, deletes it,
 * and whose new one takes its place; and which of them a turn is given.
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { memoryLimits } from '#domain/agent/knowledge/memory'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { overJob, turn } from '#test/support/agent/agent'
import { makeMemory } from '#test/support/agent/records'
import { newSurface } from '#test/support/agent/surface'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const model = scriptedModel(() => ({ text: 'Done.' }))
const app = useApp({ overrides: { thinker: model } })

const callers = ['ada', 'bob', 'a key'] as const
type CallerName = (typeof callers)[number]
/** Whose a memory is. */
const owners = ['the workspace', 'ada', 'bob'] as const
type OwnerName = (typeof owners)[number]

const setUp = async () => {
  const surface = await newSurface(app)
  const { tenantId } = surface
  const [ada, bob] = [
    await signedIn(app, tenantId, 'editor'),
    await signedIn(app, tenantId, 'owner'),
  ]
  const { id: keyId, api_key } = await app.newKey([...scopes], tenantId)
  const session = ({ key, sessionId: id, personId }: typeof ada) => ({
    key,
    by: { kind: 'session', id, personId } as const,
  })
  const by = {
    ada: session(ada),
    bob: session(bob),
    'a key': { key: api_key, by: { kind: 'key', id: keyId, personId: null } as const },
  }
  const personOf = (name: OwnerName): string | null =>
    name === 'the workspace' ? null : by[name].by.personId
  const make = (owner: OwnerName, untrusted: boolean, text = `Prices of ${owner}, ${untrusted}`) =>
    makeMemory(surface, {
      text,
      untrusted,
      scope: owner === 'the workspace' ? 'workspace' : 'user',
      person_id: personOf(owner),
    })
  const send = (caller: CallerName, method: string, path: string) =>
    surface.send(method, path, undefined, by[caller].key)
  const act = (caller: CallerName, name: string, body: object) =>
    app.send('POST', `/api/v1/actions/${name}`, { key: by[caller].key, body })
  return { ...surface, by, personOf, make, send, act }
}

type SetUp = Awaited<ReturnType<typeof setUp>>

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)

describe.each(owners.flatMap((owner) => [false, true].map((untrusted) => ({ owner, untrusted }))))(
  'a memory of $owner, untrusted: $untrusted',
  ({ owner, untrusted }) => {
    let at: SetUp
    let id: string
    const text = () => `Prices of ${owner}, ${untrusted}`
    beforeEach(async () => {
      at = await setUp()
      id = (await at.make(owner, untrusted)).id
    })

    test.each([...callers])(
      'is shown to %s if it is theirs or the workspace’s, on every way',
      async (caller) => {
        const isShown = owner === 'the workspace' || owner === caller
        const [all, one] = [
          await at.send(caller, 'GET', 'memories'),
          await at.send(caller, 'GET', `memories/${id}`),
        ]
        expect([ids(all.body.memories), one.status]).toEqual([
          isShown ? [id] : [],
          isShown ? 200 : 404,
        ])
        const { memories, untrusted: marked } = (
          await at.act(caller, 'search_memories', { query: 'price' })
        ).body.result
        expect({ memories: ids(memories), marked: ids(marked) }).toEqual({
          memories: isShown && !untrusted ? [id] : [],
          marked: isShown && untrusted ? [id] : [],
        })
        await overJob(
          app,
          await turn(app, { content: 'Which price?', by: at.by[caller].by, tenantId: at.tenantId }),
        )
        const given = JSON.stringify(model.turns.at(-1)!.messages)
        expect(given.includes(text())).toBe(isShown && !untrusted)
      },
    )

    test('is deleted by whom it is shown to, for everybody, and may then be stored anew as what it is now', async () => {
      const of = {
        other: owner === 'ada' ? 'bob' : 'ada',
        own: owner === 'bob' ? 'bob' : 'ada',
      } as const
      if (owner !== 'the workspace')
        for (const stranger of [of.other, 'a key'] as const)
          expect((await at.send(stranger, 'DELETE', `memories/${id}`)).status).toBe(404)
      expect((await at.send(of.own, 'DELETE', `memories/${id}`)).status).toBe(200)
      for (const caller of callers) {
        for (const method of ['GET', 'DELETE'])
          expect((await at.send(caller, method, `memories/${id}`)).status).toBe(404)
        expect((await at.send(caller, 'GET', 'memories')).body.memories).toEqual([])
      }
      const scope = owner === 'the workspace' ? 'workspace' : 'user'
      const { memory } = (await at.act(of.own, 'remember', { text: text(), scope })).body.result
      expect(memory).toMatchObject({ scope, untrusted: false })
      expect(memory.id).not.toBe(id)
    })
  },
)

test.each(
  callers.flatMap((caller) =>
    [undefined, 'user', 'workspace'].map((scope) => [caller, scope] as const),
  ),
)('what %s stores for %s is stored once for each whose it is', async (caller, scope) => {
  const { act, tenantId, personOf } = await setUp()
  const stored = async () =>
    (
      await app.owner`select scope, person_id from agent_memory where tenant_id = ${tenantId}
        order by id`
    ).map((row) => ({ ...row }))
  const tell = (by: CallerName) =>
    act(by, 'remember', { text: 'Prices end in nine', ...(scope ? { scope } : {}) })
  const first = await tell(caller)
  const person = caller === 'a key' ? null : personOf(caller)
  if (scope === 'user' && person === null) {
    expect([first.status, first.body.error.message, await stored()]).toEqual([
      400,
      expect.stringContaining('scope must be workspace'),
      [],
    ])
    return
  }
  const isOwn = scope !== 'workspace' && person !== null
  const expected = isOwn
    ? { scope: 'user', person_id: person }
    : { scope: 'workspace', person_id: null }
  const { memory } = first.body.result
  expect([first.status, (await tell(caller)).body.result.memory.id, await stored()]).toEqual([
    200,
    memory.id,
    [expected],
  ])
  expect(memory).toMatchObject({ scope: expected.scope, untrusted: false })
  expect((await act(caller, 'remember', { text: ' ' })).status).toBe(400)
  // Each is a job that is over.
  expect(
    await app.owner`select 1 from agent_job where tenant_id = ${tenantId} and kind = 'action'
      and status = 'completed'`,
  ).toHaveLength(2)
  // The same words of the other are another memory, unless they are of the workspace.
  await tell(caller === 'ada' ? 'bob' : 'ada')
  expect(await stored()).toHaveLength(scope === 'workspace' ? 1 : 2)
})

const fill = async (
  { tenantId, personOf }: SetUp,
  owner: OwnerName,
  untrusted: boolean,
): Promise<void> => {
  const person = personOf(owner)
  await app.owner`insert into agent_memory (id, tenant_id, scope, person_id, text, text_hash,
    untrusted, words, configuration, created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, ${person ? 'user' : 'workspace'}, ${person},
      'filler ' || n, n::text, ${untrusted}, '', 'simple',
      now() - interval '1 day' + n * interval '1 second', now()
        from generate_series(1, ${memoryLimits.all}::int) n`
}

const full = owners.flatMap((filled) =>
  (['the workspace', 'ada'] as const).flatMap((told) =>
    [false, true].map((untrusted) => [filled, told, untrusted] as const),
  ),
)
test.each(full)(
  'with 500 of %s, one more of %s (the others untrusted: %p) takes the place of the oldest of its own',
  async (...one) => {
    const [filled, told, untrusted] = one
    const at = await setUp()
    await fill(at, filled, untrusted)
    const tell = (text: string) =>
      at.act('ada', 'remember', { text, scope: told === 'ada' ? 'user' : 'workspace' })
    const left = async () =>
      (
        await app.owner`select text from agent_memory where tenant_id = ${at.tenantId}
          and text like 'filler%' order by created_at limit 1`
      )[0]!.text
    const count = async () =>
      (
        await app.owner`select count(*)::int as n from agent_memory
          where tenant_id = ${at.tenantId}`
      )[0]!.n
    await tell(`first ${newId()}`)
    const isSame = filled === told
    expect([await left(), await count()]).toEqual([
      isSame ? 'filler 2' : 'filler 1',
      memoryLimits.all + (isSame ? 0 : 1),
    ])
    if (!isSame) return
    // A deletion makes room for one.
    await app.owner`delete from agent_memory where tenant_id = ${at.tenantId}
      and text = 'filler 300'`
    await tell(`second ${newId()}`)
    expect([await left(), await count()]).toEqual(['filler 2', memoryLimits.all])
  },
)

describe('a turn is given', () => {
  /** The texts that a turn of these words by Ada is given. */
  const recalled = async ({ by, tenantId }: SetUp, content: string): Promise<string[]> => {
    await overJob(app, await turn(app, { content, by: by.ada.by, tenantId }))
    const { messages } = model.turns.at(-1)!
    expect(messages.at(-1)).toEqual({ role: 'user', text: content })
    const note = messages.at(-2)
    return note?.text.startsWith('(remembered')
      ? JSON.parse(note.text.slice(note.text.indexOf('['), -1))
      : []
  }
  const makeAll = async ({ make }: SetUp, ...texts: string[]) => {
    for (const text of texts) await make('the workspace', false, text)
  }

  test('memories that share words with it, in any of their forms, the best first, and they count as used', async () => {
    const at = await setUp()
    await makeAll(
      at,
      'Launches happen on Mondays',
      'Prices of launches are mentioned',
      'Nobody likes exclamation marks',
    )
    expect(await recalled(at, 'Which price has the launch?')).toEqual([
      'Prices of launches are mentioned',
      'Launches happen on Mondays',
    ])
    const used = await app.owner`select text from agent_memory where tenant_id = ${at.tenantId}
        and last_used_at is not null order by text`
    expect(used.map(({ text }) => text)).toEqual([
      'Launches happen on Mondays',
      'Prices of launches are mentioned',
    ])
    expect(await recalled(at, 'hello')).toEqual([])
  })

  test('eight at most', async () => {
    const at = await setUp()
    await makeAll(at, ...Array.from({ length: 10 }, (_, n) => `Launch note ${n}`))
    expect(await recalled(at, 'launch')).toEqual(
      [9, 8, 7, 6, 5, 4, 3, 2].map((n) => `Launch note ${n}`),
    )
  })

  test("words in the workspace's language, also in that of before", async () => {
    const at = await setUp()
    const tell = (text: string) => at.act('ada', 'remember', { text, scope: 'workspace' })
    await tell('Prices are mentioned')
    await app.send('PUT', 'profile', { key: at.by['a key'].key, body: { language: 'de-AT' } })
    await tell('Preise nennen wir nie in Überschriften')
    await app.owner`update agent_memory set created_at = created_at - interval '1 hour'
      where tenant_id = ${at.tenantId}`
    expect(await recalled(at, 'Welcher Preis in der Überschrift?')).toEqual([
      'Preise nennen wir nie in Überschriften',
    ])
    expect(await recalled(at, 'priced')).toEqual(['Prices are mentioned'])
  })
})
