/**
 * Gives each secret of a workspace to those who may have it, uses and misuses it, and then looks at
 * everything that anybody is shown.
 */
import { expect } from 'bun:test'
import { scopes } from '#kernel/scopes'
import { eventually, type Reply, type TestApp } from '../app.ts'
import { TEST_SECRET } from '../database/db.ts'
import { openStream } from '../http/event-stream.ts'
import type { Receiver } from '../http/receiver.ts'
import { createVisitor } from '../http/visitor.ts'
import { connectMcp } from '../mcp/mcp.ts'
import { type ChatReply, type ChatRequest, failed } from '../model/fake-chat.ts'
import type { FakeOpenAi } from '../model/fake-openai.ts'
import { inviteTo, joinAs, PASSWORD } from '../people.ts'
import { type Plan, plannedReply, planText } from './plan.ts'
import { newSurface, type Surface } from './surface.ts'
import { post } from './webhook-rules.ts'

export const WISH = { goal: planText([]) }

interface Place {
  app: TestApp
  model: FakeOpenAi
  modelKey: string
  receiver: Receiver
}

/** `visit` makes all of it happen. */
export const secretPlaces = ({ app, model, modelKey, receiver }: Place) => {
  let surface: Surface
  let owner: Awaited<ReturnType<typeof joinAs>>
  /** Everything that was shown once, or given to the server. */
  const secrets: Record<string, string> = {
    'the key of the model': modelKey,
    'the secret of the deployment': TEST_SECRET.toString(),
  }
  /** Everything else that was shown, by place. */
  const shown: Record<string, string> = {}
  /** Ids of rules, which everybody may know. */
  const rules: { id: string; path: string; name: string }[] = []

  const asOwner = (method: string, path: string, body?: unknown): Promise<Reply> =>
    app.send(method, `/api/v1/app/${path}`, {
      key: owner.access,
      ...(body === undefined ? {} : { body }),
    })
  const made = (
    name: string,
    { id, path, secret }: { id: string; path: string; secret: string },
  ): void => {
    expect([name, secret]).toEqual([name, expect.stringMatching(/^whsec_/)])
    secrets[name] = secret
    rules.push({ id, path, name })
  }

  const jobEnded = (id: string) =>
    eventually(
      () => surface.send('GET', `jobs/${id}`),
      ({ body }) => ['completed', 'failed', 'cancelled'].includes(body.job.status),
    )

  const say = async (content: string): Promise<string> => {
    const { body } = await surface.send('POST', 'conversations', {})
    return (
      await surface.send('POST', `conversations/${body.conversation.id}/messages`, { content })
    ).body.job.id
  }

  /** Allows the waiting calls on their pages until the job is over. */
  const allowAll = async (jobId: string): Promise<void> => {
    const visitor = createVisitor(app)
    await visitor.send('/sign-in', { email: owner.email, password: PASSWORD })
    for (const [name, { value }] of visitor.cookies)
      if (value.length > 20) secrets[`the cookie ${name}`] = value
    for (let open = true; open; ) {
      const root = await eventually(
        async () => ({
          job: (await surface.send('GET', `jobs/${jobId}`)).body.job,
          waiting: await pending(),
        }),
        ({ job, waiting }) => job.endedAt !== null || waiting.length > 0,
      )
      for (const { id, arguments: args } of root.waiting) {
        shown[`the page of ${id}`] = (await visitor.get(`/approvals/${id}`)).text
        const { status } = await visitor.send(`/approvals/${id}`, {
          decision: 'approve',
          arguments: JSON.stringify(args),
        })
        expect(status).toBe(303)
      }
      open = root.job.endedAt === null
    }
  }
  const pending = async (): Promise<{ id: string; arguments: object }[]> =>
    (await surface.send('GET', 'approvals?status=pending')).body.approvals

  const rule = (name: string): Plan[number][number] => ['create_webhook_rule', { name, ...WISH }]

  /** Every person and program that has a secret. */
  const arrange = async (): Promise<void> => {
    surface = await newSurface(app)
    const { tenantId } = surface
    secrets['the key of the workspace'] = surface.key
    secrets['an invitation'] = await inviteTo(app, { tenantId, role: 'editor' })
    owner = await joinAs(app, { tenantId })
    Object.assign(secrets, {
      'a session': owner.access,
      'the token of a refresh': owner.refresh,
      'a password': PASSWORD,
    })
    const { body } = await asOwner('POST', 'keys', { name: 'Script', scopes: [...scopes] })
    secrets['a key of a person'] = (body as unknown as { api_key: string }).api_key
    const endpoint = async (method: string, path: string, input?: object) =>
      ((await asOwner(method, path, input)).body as unknown as { secret: string }).secret
    secrets['the secret of the endpoint'] = await endpoint('PUT', 'webhook', { url: receiver.url })
    secrets['the next secret of the endpoint'] = await endpoint('POST', 'webhook/rotate')
  }

  /**
   * Rules made in three ways: directly, twice under one key; over MCP; and by agents, whose person
   * is shown the secret.
   */
  const makeRules = async (): Promise<void> => {
    const call = () =>
      app.send('POST', '/api/v1/actions/create_webhook_rule', {
        key: surface.key,
        body: { name: 'Direct', ...WISH },
        headers: { 'idempotency-key': 'once' },
      })
    const [first, again] = [await call(), await call()]
    expect([first.status, again.text]).toEqual([200, first.text])
    made('a secret by a direct call', first.body.result)
    await using mcp = await connectMcp(app.url, { key: surface.key, query: '?toolsets=agent' })
    const { structuredContent } = await mcp.call('create_webhook_rule', { name: 'MCP', ...WISH })
    made('a secret by MCP', structuredContent as never)
    shown['rules by MCP'] = JSON.stringify(await mcp.call('list_webhook_rules'))
    const inChild: Plan = [[rule('Child')], [['list_webhook_rules', {}]]]
    const goal = planText(inChild)
    await allowAll(
      await say(
        planText([
          [rule('Loop')],
          [['delegate', { goal, tools: ['create_webhook_rule', 'list_webhook_rules'] }]],
          [['list_webhook_rules', {}]],
        ]),
      ),
    )
    for (const one of (await surface.send('GET', 'webhook-rules')).body.webhookRules.filter(
      (made: { secretIsUnseen: boolean }) => made.secretIsUnseen,
    )) {
      const { body } = await surface.send(
        'POST',
        `webhook-rules/${one.id}/reveal`,
        undefined,
        owner.access,
      )
      made(`a secret of ${one.name}, revealed`, { ...one, secret: body.secret })
    }
  }

  /** Secrets that a rule no longer has, or never had. */
  const postToRules = async (): Promise<void> => {
    const [direct] = rules
    const former = secrets['a secret by a direct call']!
    const { body } = await surface.send('POST', `webhook-rules/${direct!.id}/rotate`)
    secrets['a rotated secret'] = body.secret
    expect((await post(app.url, { path: direct!.path, secret: former })).status).toBe(401)
    for (const { path, name } of rules) {
      const { status } = await post(app.url, {
        path,
        secret: name === direct!.name ? body.secret : secrets[name]!,
      })
      expect([name, status]).toEqual([name, 200])
    }
    // In places where they do not belong.
    for (const secret of [body.secret, surface.key]) {
      await surface.send('GET', `webhook-rules/${encodeURIComponent(secret)}`)
      await surface.send('GET', `jobs?cursor=${encodeURIComponent(secret)}`)
      await app.send('POST', '/api/v1/actions/list_webhook_rules', {
        key: surface.key,
        body: { [secret]: 1 },
      })
    }
  }

  /** The provider repeats the key that it refuses. */
  const refusing = (request: ChatRequest): ChatReply => {
    const status = Number(request.messages.findLast(({ role }) => role === 'user')?.content)
    return status
      ? failed(status, { message: `Incorrect API key provided: ${modelKey}` })
      : plannedReply(request)
  }

  const failModel = async (): Promise<void> => {
    for (const status of [401, 400]) {
      const { body } = await jobEnded(await say(String(status)))
      expect([status, body.job.status]).toEqual([status, 'failed'])
    }
    model.script('unauthorized')
    await app.send('POST', 'batches', { key: surface.key, body: { count: 1 } })
    await eventually(
      async () => model.calls.length,
      (calls) => calls > 0,
    )
  }

  /** What anybody is shown of a job. */
  const lookAt = async (id: string): Promise<void> => {
    for (const path of [`jobs/${id}`, `jobs/${id}/trace`, `jobs/${id}/events`])
      shown[path] = (await surface.send('GET', path)).text
    await using stream = await openStream(`${app.url}/api/v1/agent/jobs/${id}/events`, {
      key: surface.key,
    })
    await stream.ended()
    shown[`stream of ${id}`] = stream.text
  }

  /** Everything else that can be read, by people and programs. */
  const lookAtAll = async (): Promise<void> => {
    const { jobs } = (await surface.send('GET', 'jobs?limit=50')).body
    for (const { id } of jobs) {
      await jobEnded(id)
      await lookAt(id)
    }
    const lists = [
      'jobs',
      'conversations',
      'approvals',
      'webhook-rules',
      'schedules',
      'memories',
      'tools',
      'usage',
      'analytics',
    ]
    for (const list of lists) shown[list] = (await surface.send('GET', list)).text
    for (const { id } of rules)
      shown[`rule ${id}`] = (await surface.send('GET', `webhook-rules/${id}`)).text
    for (const path of ['workspace/export', 'audit', 'audit/export', 'webhook', 'keys']) {
      const { status, text } = await asOwner('GET', path)
      expect([path, status]).toEqual([path, 200])
      shown[path] = text
    }
    const settled = () =>
      app.owner`select 1 from outbox where tenant_id = ${surface.tenantId} and state = 'pending'`
    await eventually(settled, ({ length }) => length === 0)
    for (const [nth, { url, headers, body }] of receiver.requests.entries())
      shown[`event ${nth}`] = JSON.stringify({ url, headers, body })
  }

  const visit = async (): Promise<void> => {
    model.converseOtherwise(refusing)
    await arrange()
    await makeRules()
    await postToRules()
    await failModel()
    await lookAtAll()
  }
  return { secrets, shown, rules, visit, tenantId: () => surface.tenantId }
}
