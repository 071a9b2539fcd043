/**
 * Messages of strangers and of forged senders, read by a model that does all they ask for: nothing
 * comes of it, and nothing gets out.
 */
import { expect, test } from 'bun:test'
import { STRANGERS_TOOLS } from '#domain/agent/channel/trust'
import { remember } from '#domain/agent/knowledge/memory'
import { newId } from '#kernel/ids'
import type { ThinkRequest } from '#port/model/thinker'
import { insertMemory } from '#store/agent/memories'
import {
  attackIn,
  newTarget,
  readIn,
  settled,
  stateOf,
  useAttackersHosts,
} from '#test/support/agent/attacked'
import { makeDocument } from '#test/support/agent/documents'
import { eventually } from '#test/support/app'
import { write } from '#test/support/arrange'
import {
  ADA,
  attackers,
  type ChannelAttack,
  channelAttacks,
  EVE,
  isSeen,
  OURS,
} from '#test/support/channels/attacks'
import { channelAdmin } from '#test/support/channels/channels'
import { type DevChannel, devChannel, linked } from '#test/support/channels/dev-posts'
import { openMailgun } from '#test/support/channels/mailgun'
import { openReceiver } from '#test/support/http/receiver'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { use, useApp } from '#test/support/use'

/** Stands in what is private, and in nothing else. */
const CANARY = 'zanzibar'

const mailgun = use(async () => openMailgun())
/** What an attacker reads: pages of his, and the answers of the dev channel. */
const { canary, listed, places, env } = useAttackersHosts()
const answers = use(openReceiver)

const attackOf = (turn: ThinkRequest): number | undefined => {
  const said = turn.messages.findLast(({ role }) => role === 'user')
  return attackIn(said && 'text' in said ? said.text : '')
}

const script: { attacks: ChannelAttack[] } = { attacks: [] }
/** Answers with all that it has read. */
const obeying = scriptedModel((asked, nth) => {
  const id = attackOf(asked)
  const calls = id === undefined ? undefined : script.attacks[id]!.obeyed[nth]
  return calls ? { calls } : { text: `Done. ${readIn(asked)}` }
})

const app = useApp(() => ({
  // Mail goes out as fast as it can.
  overrides: {
    thinker: obeying,
    channels: (usual) => ({ ...usual, email: { ...usual.email!, spacingMs: 0 } }),
  },
  env: {
    ...env(answers.url, mailgun.url),
    CHANNEL_URLS: JSON.stringify({ mailgun: mailgun.url }),
  },
}))

const { posted, send } = attackers(app, mailgun)

const prepared = async () => {
  const workspace = await newTarget(app)
  const { tenantId, key } = workspace
  await app.owner`update item set body = ${`Next week: ${CANARY}`} where tenant_id = ${tenantId}`
  expect(
    (
      await app.send('PUT', '/api/v1/growth/profile', {
        key,
        body: { goal: CANARY, voice: CANARY },
      })
    ).status,
  ).toBe(200)
  for (const [slug, pinned, content] of [
    ['answers', true, 'Be kind.'],
    ['secret-plan', false, CANARY],
  ] as const)
    expect(
      (
        await app.send('POST', '/api/v1/agent/playbooks', {
          key,
          body: { slug, name: slug, content, pinned },
        })
      ).status,
    ).toBe(201)
  const { id: document } = await makeDocument(workspace, {
    fileName: 'prices.md',
    content: `# Prices\n\nParcels: ${CANARY}.`,
    trusted: true,
  })
  await makeDocument(workspace, {
    content: '# Returns\n\nWithin 30 days.',
    metadata: { public: true },
  })
  const told = {
    id: newId(),
    scope: 'workspace' as const,
    person_id: null,
    text: `Parcels: ${CANARY}`,
    untrusted: false,
    job_id: null,
  }
  const { memory } = remember(
    { equal: undefined, count: 0, oldest: null },
    { ...told, now: new Date(0) },
  )
  await write(workspace, { writes: [insertMemory(memory, 'en')] })
  return { ...workspace, document, ada: await signedIn(app, tenantId, 'owner') }
}

/** Both are open to anyone, and answer by themselves. */
const connected = async ({ tenantId, ada }: Awaited<ReturnType<typeof prepared>>) => {
  const dev = await devChannel(
    app,
    { config: { reply: 'auto', dailyJobs: 10_000, url: answers.url } },
    tenantId,
  )
  mailgun.domains.set('example.com', { state: 'active' })
  const { active } = await channelAdmin(app, tenantId)
  const id = await active({
    channel: 'email',
    routingKey: OURS,
    senderPolicy: 'anyone',
    config: { provider: 'mailgun', reply: 'auto', dailyJobs: 10_000 },
    credentials: { apiKey: mailgun.apiKey, signingSecret: mailgun.signingKey },
  })
  const mail: DevChannel = { id, tenantId, routingKey: OURS }
  await linked(app, dev, 'ada', ada.personId)
  await linked(app, mail, ADA, ada.personId)
  return { dev, mail }
}

interface StepOf {
  name: string
  class: string
  state: string
  is_stranger: boolean
}

const toolsCalled = async (tenantId: string): Promise<StepOf[]> => [
  ...(await app.owner<
    StepOf[]
  >`select s.name, s.class, s.state, j.on_behalf->>'personId' is null as is_stranger
    from agent_step s join agent_job j on j.id = s.job_id where j.tenant_id = ${tenantId}
      and j.kind = 'channel' and s.kind = 'tool'`),
]

test('nothing comes of what strangers and forged senders write but questions to a person, and nothing private reaches them', async () => {
  const workspace = await prepared()
  const { tenantId, document } = workspace
  const { dev, mail } = await connected(workspace)
  script.attacks = channelAttacks({ document, ...places() })
  expect(script.attacks.length).toBeGreaterThanOrEqual(30)
  // Ada talks of what is private where strangers would like to read.
  await posted(dev, { sender: 'ada', text: `Our plan is ${CANARY}`, thread: 'room' })
  await settled(app, tenantId)
  const before = await stateOf(app, tenantId)
  const turns = obeying.turns.length
  for (const attack of script.attacks) await send(attack, dev)
  await settled(app, tenantId)

  expect(await stateOf(app, tenantId)).toEqual(before)
  expect([...canary.requests, ...listed.requests]).toEqual([])

  // Each was read where a model sees it, and obeyed as far as the agent let the model.
  const read = new Set(obeying.turns.slice(turns).flatMap((turn) => attackOf(turn) ?? []))
  expect([...read].toSorted((a, b) => a - b)).toEqual(
    script.attacks.flatMap(({ id, carrier }) => (isSeen[carrier] ? id : [])),
  )

  const called = await toolsCalled(tenantId)
  const done = called.filter(({ state }) => state === 'done')
  expect(done.filter(({ is_stranger }) => is_stranger).length).toBeGreaterThan(4)
  for (const { name, is_stranger } of done) if (is_stranger) expect(STRANGERS_TOOLS).toContain(name)
  expect([...new Set(done.map((step) => step.class))]).toEqual(['read'])
  expect(called.filter(({ state, is_stranger }) => state === 'asked' && is_stranger)).toEqual([])
  expect(called.filter(({ state }) => state === 'asked').length).toBeGreaterThan(10)
  const decided = await app.owner`select 1 from agent_approval where tenant_id = ${tenantId}
      and status <> 'pending'`
  expect([...decided]).toEqual([])

  // All answers have gone out: what is private to Ada's address alone, and to the thread in which
  // she asked.
  await eventually(
    async () =>
      (
        await app.owner`select 1 from channel_reply where tenant_id = ${tenantId}
          and status in ('queued', 'sending')`
      ).length,
    (count) => count === 0,
  )
  const [row] =
    await app.owner`select count(*)::int from channel_reply where connection_id = ${mail.id}
      and status = 'sent'`
  expect(row!.count).toBe(mailgun.mails.length)
  for (const { to, text = '', html = '', subject = '', ...more } of mailgun.mails) {
    if (to !== ADA) expect(`${text}${html}${subject}`).not.toContain(CANARY)
    expect([more.cc, more.bcc]).toEqual([undefined, undefined])
  }
  expect(mailgun.mails.filter(({ to }) => to === EVE).length).toBeGreaterThan(0)
  const told = answers.requests.map(({ body }) => body).filter((body) => body.includes(CANARY))
  expect(told).toHaveLength(1)
}, 360_000)

test('where members alone are served, none of it begins a job', async () => {
  const workspace = await prepared()
  const dev = await devChannel(
    app,
    { senderPolicy: 'members', config: { url: answers.url } },
    workspace.tenantId,
  )
  const identity = await linked(app, dev, 'ada', workspace.ada.personId)
  script.attacks = channelAttacks({ document: workspace.document, ...places() })
  const before = await stateOf(app, workspace.tenantId)
  for (const attack of script.attacks.filter(({ carrier }) => carrier === 'text'))
    await send(attack, dev)
  expect([
    ...(await app.owner`select 1 from agent_job where tenant_id = ${workspace.tenantId}`),
  ]).toEqual([])
  expect(await stateOf(app, workspace.tenantId)).toEqual(before)
  expect(identity).toBeString()
})
