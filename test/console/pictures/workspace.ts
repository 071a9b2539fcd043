/** A server with a small workspace in which each kind of thing waits, as a team would have it. */
import { newBatch } from '#domain/growth/drafting/batch'
import { sendTimes } from '#domain/growth/sending/times'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { connectAccount, createKey, createWorkspace } from '#ops/operator/admin/workspaces'
import { insertBatch } from '#store/growth/batches'
import { asKey, turn, waitingJob } from '#test/support/agent/agent'
import { changeTool } from '#test/support/agent/changed-tool'
import { makeDraft, makePlaybook } from '#test/support/agent/records'
import { client, type TestApp, testApp } from '#test/support/app'
import { type Workspace, write } from '#test/support/arrange'
import { devChannel, postDev } from '#test/support/channels/dev-posts'
import { builtConsole } from '#test/support/console/built'
import { insertItem, setItem } from '#test/support/database/writes'
import { eventually } from '#test/support/eventually'
import { putInReview } from '#test/support/growth/post-again'
import { makeSignal, othersPost } from '#test/support/growth/records'
import { type Story, storyAt } from '#test/support/growth/story'
import { lostRequest, type Unreliable, unreliable } from '#test/support/growth/unreliable'
import { openReceiver, type Receiver } from '#test/support/http/receiver'
import { type ScriptedModel, scriptedModel } from '#test/support/model/scripted-model'
import { freePort } from '#test/support/processes/server'
import { type SignedIn, signedInAs } from '#test/support/session'
import {
  approved,
  article,
  asked,
  batches,
  byHand,
  channel,
  doubtful,
  onTimeline,
  playbook,
  profile,
  refused,
  stranger,
  tool,
} from './texts.ts'

/** What waits, by the name that the walk knows it by. */
type Waiting = Record<
  | 'draft'
  | 'other'
  | 'byHand'
  | 'article'
  | 'engagement'
  | 'asked'
  | 'call'
  | 'fetch'
  | 'reply'
  | 'doubt'
  | 'refused'
  | 'tool',
  string
> & { playbook: { id: string; version: string } }

export interface Scene extends AsyncDisposable {
  app: TestApp
  story: Story
  receiver: Receiver
  people: Record<'ines' | 'vera', SignedIn>
  waits: Waiting
}

/** Reads signals and asks to approve the draft that is named; or asks to read a page. */
const model = (): ScriptedModel =>
  scriptedModel(({ messages }, answers) => {
    const { text } = messages.findLast(({ role }) => role === 'user') as { text: string }
    const url = /https:\S+/.exec(text)?.[0]
    const id = /[0-9a-f-]{36}/.exec(text)?.[0]
    if (!id && !url) return { text: channel.answer }
    if (answers === 0) return { calls: [['growth_list_signals', {}]] }
    if (answers === 1)
      return { calls: [url ? ['fetch_url', { url }] : ['growth_approve_item', { id }]] }
    return { text: 'Done.' }
  })

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri']

const openWorkspace = async (app: TestApp): Promise<{ story: Story; workspace: Workspace }> => {
  const { workplace } = app
  const tenantId = await createWorkspace(workplace.db, 'Dockside')
  const account = await workplace.sandbox.connect(tenantId, 'ines_okafor')
  await connectAccount(workplace.world, tenantId, { network: 'sandbox', ...account })
  const { api_key: key } = await createKey(workplace.db, {
    tenantId,
    scopes: [...scopes],
    name: 'Planning sheet',
  })
  const send = client(app.url, key) as TestApp['send']
  await send('PUT', 'profile', { body: profile })
  const story = storyAt({ owner: app.owner, send }, { tenantId, key, account: account.externalId })
  await story.changeChannel('posts', { cadence: { days: DAYS, times: ['08:30', '16:00'] } })
  return { story, workspace: { app, tenantId, key, session: '' } }
}

const writeDrafts = async (workspace: Workspace): Promise<string[]> => {
  const { app, tenantId } = workspace
  const ids: string[] = []
  for (const { focus, drafts } of batches) {
    const batch = newBatch(newId(), { count: drafts.length, focus, now: new Date() })
    const settled = { ...batch, status: 'ready' as const, delivered: drafts.length }
    await write(workspace, { writes: [insertBatch(settled)] })
    for (const { body, hook, rationale, stories = [] } of drafts)
      ids.push(
        await insertItem(app, tenantId, {
          body,
          hook,
          rationale,
          stories: app.owner.json(stories) as never,
          length: body.length as never,
          batch_id: batch.id,
          source_kind: 'batch',
          source_id: batch.id,
        } as never),
      )
  }
  return ids
}

/** Posts on the next two slots after the first, and one without a time. */
const schedule = async ({ send, tenantId }: Story, app: TestApp): Promise<void> => {
  const from = new Date().toISOString()
  const to = new Date(Date.now() + 12 * 86_400_000).toISOString()
  const { entries } = (await send('GET', `calendar?from=${from}&to=${to}`)).body
  const free = entries.filter(({ item }: { item: object | null }) => item === null)
  for (const [index, body] of approved.entries()) {
    const id = await insertItem(app, tenantId, { body })
    await send('POST', `items/${id}/approve`, { body: { post_at: free[1 + 2 * index].at } })
  }
}

const refuse = async ({ story, network }: { story: Story; network: Unreliable }) => {
  const id = await story.approved(refused.body)
  network.answers.set(refused.body, async () => ({ kind: 'refused', reason: refused.reason }))
  await story.postNow(id)
  await story.settled(id, 'publish_failed')
  return id
}

const doubt = async (app: TestApp, { story, network }: { story: Story; network: Unreliable }) => {
  const posts = onTimeline.map((text, index) => ({
    externalId: `9${index}`,
    url: `https://network.example/ines_okafor/9${index}`,
    createdAt: new Date(Date.now() - (index + 1) * 90 * 60_000),
    text,
    truncated: false,
  }))
  network.view = (timeline) => ({ ...timeline, posts })
  const id = await story.approved(doubtful)
  await putInReview(app, story, { network, id, how: lostRequest })
  return id
}

const ask = async (workspace: Workspace, content: string): Promise<string> => {
  const { app, tenantId } = workspace
  const job = await turn(app, { content, by: await asKey(app, tenantId), tenantId })
  await waitingJob(app, job)
  const [row] = await app.owner<{ id: string }[]>`select id from agent_approval
    where job_id = ${job}`
  return row!.id
}

const answerStranger = async (app: TestApp, tenantId: string, url: string): Promise<string> => {
  const connection = await devChannel(
    app,
    { config: { url }, displayName: 'Website chat' },
    tenantId,
  )
  await postDev(app.url, connection, { text: channel.question, name: 'Ada Novak' })
  const [held] = await eventually(
    () => app.owner<{ id: string }[]>`select id from channel_reply where status = 'held'`,
    ({ length }) => length === 1,
  )
  return held!.id
}

const propose = async (workspace: Workspace) => {
  const { id } = await makePlaybook(workspace, { name: playbook.name, content: playbook.before })
  const version = await makeDraft(workspace, {
    playbook_id: id,
    content: playbook.after,
    rationale: playbook.rationale,
  })
  return { id, version: version.id }
}

const arrange = async (
  app: TestApp,
  { story, workspace, receiver }: { story: Story; workspace: Workspace; receiver: Receiver },
): Promise<Waiting> => {
  const { tenantId } = story
  const network = unreliable(app)
  await makeSignal(workspace)
  const outcomes = {
    doubt: await doubt(app, { story, network }),
    refused: await refuse({ story, network }),
  }
  const [draft, other] = await writeDrafts(workspace)
  await schedule(story, app)
  const written = await story.send('POST', 'items', { body: { body: byHand } })
  const long = await insertItem(app, tenantId, {
    ...article,
    kind: 'article',
    hook: 'claim',
    rationale: 'Drafted from two of your stories and one piece of proof.',
  })
  await setItem(app, long, { length: article.body.length } as never)
  const post = await othersPost({ app }, stranger.post)
  const reply = await story.send('POST', 'engagements', {
    body: { post, action: 'reply', body: stranger.reply },
  })
  const named = await insertItem(app, tenantId, {
    body: asked.item,
    hook: 'rule',
    source_kind: 'agent',
  })
  return {
    ...outcomes,
    draft: draft!,
    other: other!,
    byHand: written.body.item.id,
    article: long,
    engagement: reply.body.engagement.id,
    asked: named,
    call: await ask(workspace, `${asked.content}: ${named}`),
    fetch: await ask(workspace, 'Read https://portofrotterdam.example/news and say what is new'),
    reply: await answerStranger(app, tenantId, receiver.url),
    playbook: await propose(workspace),
    tool: await changeTool(app, tenantId, tool),
  }
}

/** Ines owns the workspace and another one; Vera reads it. */
const invite = async (app: TestApp, tenantId: string) => {
  const ines = await signedInAs(app, tenantId, { name: 'Ines Okafor', role: 'owner' })
  const vera = await signedInAs(app, tenantId, { name: 'Vera Lind', role: 'viewer' })
  const second = await createWorkspace(app.workplace.db, 'Gate Four Magazine')
  await app.owner`insert into member (tenant_id, person_id, role)
    values (${second}, ${ines.personId}, 'approver')`
  await app.owner`update person set email = 'ines@dockside.example' where id = ${ines.personId}`
  return { ines, vera }
}

export const openScene = async (): Promise<Scene> => {
  await using stack = new AsyncDisposableStack()
  const receiver = stack.use(await openReceiver())
  const port = await freePort()
  const { bundle } = await builtConsole()
  const app = stack.use(
    await testApp({
      env: {
        EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
        PORT: String(port),
        PUBLIC_URL: `http://localhost:${port}`,
        OPENAI_API_KEY: 'none',
        OPENAI_BASE_URL: 'http://127.0.0.1:9',
      },
      overrides: {
        console: () => bundle,
        thinker: model(),
        // A doubt is in review at once.
        times: { ...sendTimes, settleMs: 20, windowMs: 60 },
      },
    }),
  )
  const { story, workspace } = await openWorkspace(app)
  const people = await invite(app, story.tenantId)
  const waits = await arrange(app, { story, workspace, receiver })
  const owned = stack.move()
  return { app, story, receiver, people, waits, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
