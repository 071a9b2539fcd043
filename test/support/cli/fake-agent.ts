/** A server that behaves like the agent's routes, with jobs that a test scripts. */
import { newId } from '#kernel/ids'

interface Stored {
  seq: number
  at: string
  type: string
  data: Record<string, unknown>
}

interface Asked {
  method: string
  path: string
  token: string | null
  body: Record<string, unknown>
}

export class FakeJob {
  readonly id = newId()
  readonly events: Stored[] = []
  readonly approvals: Record<string, unknown>[] = []
  /** Everything that was sent to streams, stored or not. */
  readonly frames: { seq: number | undefined; text: string }[] = []
  #wake = Promise.withResolvers<void>()

  constructor(readonly content: string) {}

  get isOver(): boolean {
    return this.events.some(
      ({ type, data }) =>
        type === 'job.status' && ['completed', 'failed', 'cancelled'].includes(String(data.status)),
    )
  }

  add(type: string, data: Record<string, unknown>): this {
    const seq = this.events.length + 1
    this.events.push({ seq, at: new Date().toISOString(), type, data })
    return this.#send(seq, `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Events that are not stored. */
  live(type: 'delta' | 'reset', data: Record<string, unknown>): this {
    return this.#send(undefined, `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  answer(content: string): this {
    return this.add('message', { id: newId(), seq: 2, role: 'assistant', content }).add(
      'job.status',
      { status: 'completed', error: null },
    )
  }

  ask(approval: Record<string, unknown>): this {
    const id = newId()
    this.approvals.push({
      id,
      url: `https://team.example/approvals/${id}`,
      tool_name: 'growth_approve_item',
      arguments: {},
      why: ['publishes'],
      status: 'pending',
      deciders: {
        roles: ['owner', 'approver'],
        people: [{ kind: 'person', id: 'ada', name: 'Ada' }],
        more: false,
      },
      may_decide: true,
      sha256: '0'.repeat(64),
      subject: { records: [], account: null, text: null, sha256: null },
      ...approval,
    })
    return this.add('approval.requested', { id: this.approvals.at(-1)!.id }).add('job.status', {
      status: 'waiting_approval',
      error: null,
    })
  }

  #send(seq: number | undefined, text: string): this {
    this.frames.push({ seq, text })
    this.#wake.resolve()
    this.#wake = Promise.withResolvers<void>()
    return this
  }

  /** Resolves with the next frame or event. */
  more(): Promise<void> {
    return this.#wake.promise
  }
}

export interface FakeAgentOptions {
  /** Writes the script of a message's job. */
  turn(job: FakeJob): unknown
  /** Runs after a decision, which the approval then has. */
  decided?(job: FakeJob, approval: Record<string, unknown>): unknown
  cancelled?(job: FakeJob): unknown
  /** `none`: answers only in JSON. A number: breaks off after this many frames. */
  streams?: 'none' | number
  /** Answers a request instead of the server. */
  instead?(asked: Asked): Response | undefined
}

export class FakeAgent implements AsyncDisposable {
  readonly asked: Asked[] = []
  readonly jobs: FakeJob[] = []
  readonly #server

  constructor(readonly options: FakeAgentOptions) {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: (request) => this.#serve(request),
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  /** `POST conversations/ID/messages`, with ids left out. */
  get routes(): string[] {
    return this.asked.map(
      ({ method, path }) =>
        `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, 'ID').replace(/\?.*/, '')}`,
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server.stop(true)
  }

  async #serve(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const text = await request.text()
    const path = url.pathname.replace('/api/v1/agent/', '')
    const token = request.headers.get('authorization')
    const asked = {
      method: request.method,
      path: path + url.search,
      token,
      body: text === '' ? {} : JSON.parse(text),
    }
    this.asked.push(asked)
    return (
      this.options.instead?.(asked) ??
      this.#route(path.split('/'), asked.body, { url, accept: request.headers.get('accept') })
    )
  }

  async #route(
    [group, id, verb]: string[],
    body: Asked['body'],
    more: { url: URL; accept: string | null },
  ): Promise<Response> {
    if (group === 'conversations')
      return verb === 'messages'
        ? this.#turn(String(body.content))
        : this.#reply({ conversation: { id: newId() } })
    if (group === 'approvals') return this.#decide(id!, verb!, body)
    const job = this.jobs.find((one) => one.id === id)
    if (!job)
      return Response.json(
        { error: { code: 'not_found', message: 'no such job' } },
        { status: 404 },
      )
    if (verb === 'events') return this.#events(job, more)
    if (verb === 'cancel') await this.options.cancelled?.(job)
    return this.#reply({ job: { id: job.id }, steps: [], approvals: job.approvals, children: [] })
  }

  #reply(body: object, status = 200): Response {
    return Response.json(body, { status })
  }

  #turn(content: string): Response {
    const job = new FakeJob(content)
    this.jobs.push(job)
    void this.options.turn(job)
    return this.#reply({ message: { id: newId() }, job: { id: job.id } }, 201)
  }

  async #decide(id: string, verb: string, body: Asked['body']): Promise<Response> {
    const job = this.jobs.find(({ approvals }) => approvals.some((one) => one.id === id))!
    const approval = job.approvals.find((one) => one.id === id)!
    Object.assign(approval, { status: verb === 'approve' ? 'approved' : 'rejected' }, body)
    await this.options.decided?.(job, approval)
    return this.#reply({ approval })
  }

  async #events(
    job: FakeJob,
    { url, accept }: { url: URL; accept: string | null },
  ): Promise<Response> {
    const after = Number(url.searchParams.get('after') ?? 0)
    const { streams } = this.options
    if (accept === 'text/event-stream' && streams !== 'none')
      return new Response(streamOf(job, after, streams ?? Number.POSITIVE_INFINITY), {
        headers: { 'content-type': 'text/event-stream' },
      })
    const found = () => job.events.filter(({ seq }) => seq > after)
    while (found().length === 0 && !job.isOver) await job.more()
    return this.#reply({ events: found(), nextSeq: found().at(-1)?.seq ?? after, done: job.isOver })
  }
}

const streamOf = (job: FakeJob, after: number, most: number): ReadableStream =>
  new ReadableStream({
    async start(controller) {
      const encoder = new TextEncoder()
      controller.enqueue(encoder.encode(': hello\nretry: 2000\n\n'))
      const frames = () => job.frames.filter(({ seq }) => seq === undefined || seq > after)
      try {
        for (let at = 0; at < most; at++) {
          while (at >= frames().length && !job.isOver) await job.more()
          const frame = frames()[at]
          if (!frame) break
          controller.enqueue(encoder.encode(frame.text))
        }
        controller.close()
      } catch {
        // The client has left.
      }
    },
  })
