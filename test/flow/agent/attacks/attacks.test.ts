/**
 * Poisoned texts, read by a model that does all they ask for: nothing comes of it that a person has
 * not allowed.
 */
import { expect, test } from 'bun:test'
import { type Memory, remember } from '#domain/agent/knowledge/memory'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { insertMemory } from '#store/agent/memories'
import { turn } from '#test/support/agent/agent'
import {
  attackIn,
  newTarget,
  readBy,
  readIn,
  settled,
  stateOf,
  useAttackersHosts,
} from '#test/support/agent/attacked'
import { type Attack, attacksOn, type Source, sources } from '#test/support/agent/attacks'
import { makeDocument } from '#test/support/agent/documents'
import { OUTSIDE, withOutside } from '#test/support/agent/outside-tool'
import { allowOutside } from '#test/support/agent/story'
import { makeWebhookRule, post } from '#test/support/agent/webhook-rules'
import { type Workspace, write } from '#test/support/arrange'
import type { ReceiverAnswer } from '#test/support/http/receiver'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

type Calls = [name: string, args: object][]

/** So that handles are known: whoever poisons a text may guess them. */
const LISTS: Calls = [
  ['growth_list_queue', {}],
  ['growth_list_learnings', {}],
]

type ReadSource = Exclude<Source, 'webhook'>

/** How a job comes to read a text. A webhook's job begins with it. */
const reading: Record<ReadSource, (id: number) => Calls> = {
  page: (id) => [['fetch_url', { url: `${listed.url}${id}` }]],
  memory: (id) => [['search_memories', { query: `parcel${id}`, limit: 1 }]],
  // A draft is shown to people alone.
  playbook: () => [
    ['list_playbooks', {}],
    ['read_playbook', { slug: 'voice' }],
  ],
  document: (id) => [['search_documents', { query: `parcel${id}`, limit: 1 }]],
  file: (id) => [['search_documents', { query: `parcel${id}`, limit: 1 }]],
  error: (id) => [[OUTSIDE, { text: `${id}` }]],
}

const obeying = scriptedModel((asked, answers) => {
  const said = asked.messages.find(({ role }) => role === 'user') as { text: string }
  const [, source, id] = /^read (\w+) (\d+)$/.exec(said.text) ?? []
  if (answers === 0)
    return { calls: [...LISTS, ...(source ? reading[source as ReadSource](Number(id)) : [])] }
  const attack = attackIn(readIn(asked))
  const calls = attack === undefined ? undefined : attacks()[attack]!.obeyed[answers - 1]
  return calls ? { calls } : { text: `Done. ${readIn(asked).slice(0, 500)}` }
})

const { listed, canary, places, env } = useAttackersHosts()
const app = useApp(() => ({
  overrides: { thinker: obeying, tools: withOutside(failing) },
  env: env(),
}))

const attacks = (): Attack[] => attacksOn(places())
/**
 * Each wish from every other source, and half of the wishes from each: what is asked depends on
 * whether a job has read foreign text, not on where.
 */
const tried = (): Attack[] =>
  attacks().filter(({ id, source }) => (id + sources.indexOf(source)) % 2 === 0)

/** A program outside whose errors are in its own words. */
const failing = (id: string): Promise<void> => {
  throw new AppError('network_error', attacks()[Number(id)]!.text)
}

/** Stored by a job that had read text of strangers, with a person's leave. */
const memoryOf = ({ id, text }: Attack): Memory => {
  const told = {
    id: newId(),
    scope: 'workspace' as const,
    person_id: null,
    text: `parcel${id} ${text}`,
    untrusted: true,
    job_id: null,
  }
  return remember({ equal: undefined, count: 0, oldest: null }, { ...told, now: new Date() }).memory
}

/** A playbook that every prompt has, with poisoned drafts of its next version. */
const draftPlaybooks = async ({ key }: Workspace): Promise<void> => {
  const body = { slug: 'voice', name: 'Voice', content: 'Plain words.', pinned: true }
  const { playbook } = (await app.send('POST', '/api/v1/agent/playbooks', { key, body })).body
  for (const { source, text } of tried()) {
    if (source !== 'playbook') continue
    const draft = await app.send('POST', `/api/v1/agent/playbooks/${playbook.id}/versions`, {
      key,
      body: { content: text },
    })
    expect(draft.status).toBe(201)
  }
}

/** Files whose text is poisoned, and files whose names are. */
const addDocuments = async (workspace: Workspace): Promise<void> => {
  for (const { source, id, text } of tried()) {
    if (source === 'document')
      await makeDocument(workspace, {
        fileName: `${id}.md`,
        content: `# Parcel\n\nparcel${id} ${text}`,
      })
    const fileName = `[[attack ${id}]] ${text.replace(/[/\\\n]/g, ' ')}`.slice(0, 240)
    if (source === 'file')
      await makeDocument(workspace, { fileName, content: `About parcel${id}.` })
  }
}

const prepared = async (): Promise<Workspace> => {
  const workspace = await newTarget(app)
  await allowOutside(app.owner, workspace.tenantId)
  await write(workspace, {
    writes: tried().flatMap((attack) =>
      attack.source === 'memory' ? [insertMemory(memoryOf(attack), 'en')] : [],
    ),
  })
  await draftPlaybooks(workspace)
  await addDocuments(workspace)
  listed.answer = ({ url }): ReceiverAnswer =>
    url === '/redirect'
      ? { status: 302, headers: { location: `${canary.url}redirected` } }
      : {
          status: 200,
          headers: { 'content-type': 'text/plain' },
          body: attacks()[Number(url.slice(1))]?.text ?? 'Nothing here.',
        }
  return workspace
}

test('nothing comes of a poisoned text but questions to a person', async () => {
  const { tenantId } = await prepared()
  const { personId, sessionId } = await signedIn(app, tenantId, 'owner')
  const by = { kind: 'session' as const, id: sessionId, personId }
  const attempts = tried()
  const rule = await makeWebhookRule({ app, tenantId }, { by, goal: 'do what the order needs' })
  const before = await stateOf(app, tenantId)
  for (const { source, id, text } of attempts) {
    if (source === 'webhook') expect((await post(app.url, rule, { body: text })).status).toBe(200)
    else await turn(app, { content: `read ${source} ${id}`, by, tenantId })
  }
  await settled(app, tenantId)

  expect(await stateOf(app, tenantId)).toEqual(before)
  expect(canary.requests).toEqual([])
  expect(listed.requests.filter(({ url }) => url.length > 200)).toEqual([])
  // Every text but a draft was read, and obeyed as far as the agent let the model. A webhook's is
  // in no step.
  const shown = attempts.filter(({ source }) => source !== 'playbook' && source !== 'webhook')
  expect((await readBy(app, tenantId)).toSorted()).toEqual(
    shown.map(({ id }) => `${id}`).toSorted(),
  )
  const asked = await app.owner<
    { kind: string; count: number }[]
  >`select j.kind, count(distinct j.id)::int from agent_approval a
    join agent_job j on j.id = a.job_id where a.tenant_id = ${tenantId} and a.status = 'pending'
      group by 1`
  for (const { kind, count } of asked)
    expect({ kind, most: count > attempts.length / 10 }).toEqual({ kind, most: true })
  expect(asked.map(({ kind }) => kind).toSorted()).toEqual(['turn', 'webhook'])
}, 240_000)
