/**
 * One client's session, bound to the caller who opened it. The SDK's half of it, a server with its
 * transport, takes most of its memory (9 of 12 kB of heap). An unloaded session has given up that
 * half, and gets it again at its next request.
 */
import { isInitializeRequest, type RequestId } from '@modelcontextprotocol/server'
import { readTool } from './call-tool.ts'
import { accessKey, type McpCaller } from './caller.ts'
import type { Calls } from './calls.ts'
import { authInfoOf, type McpContext, requireContext } from './context.ts'
import type { SessionEvents } from './events.ts'
import type { Lister } from './module-watch.ts'
import { hasSessionHeaders, type PlainCall, plainAnswer, plainCallIn } from './plain-call.ts'
import { SdkSession, VERSION_HEADER } from './sdk-session.ts'
import type { ServerFactory, ServerSettings } from './server.ts'
import { noticingEnd } from './stream-end.ts'
import { idsIn, Unanswered } from './unanswered.ts'
import type { View } from './view.ts'

export interface SessionOptions {
  id: string
  caller: McpCaller
  view: View
  servers: ServerFactory
  events: SessionEvents
  calls: Calls
  onClose(): void
}

export class McpSession implements AsyncDisposable {
  readonly id: string
  readonly caller: McpCaller
  readonly #view: View
  readonly #calls: Calls
  readonly #events: SessionEvents
  readonly #onClose: () => void
  readonly #make: () => SdkSession
  /** Undefined while the session is unloaded. */
  #sdk: SdkSession | undefined
  #waking: Promise<SdkSession> | undefined
  /**
   * The request that opened the session. With it, the SDK is told again who its client is. If it is
   * undefined, the session is never unloaded.
   */
  #opening: unknown
  /** The protocol version that was agreed on before it was unloaded. */
  #agreed: string | undefined
  #usedAt = performance.now()
  /** How many requests are being handled. */
  #running = 0
  /** How many GET streams are open. */
  #streams = 0
  readonly #unanswered = new Unanswered()
  /** The caller as last seen, and its access. */
  #current: McpCaller
  #access: string
  /** The modules that were enabled when it last listed tools. */
  #modules: ReadonlySet<string> | undefined
  /** Whether the access changed while no stream was open. */
  #changePending = false

  constructor(options: SessionOptions) {
    const { id, caller, view, servers, events, calls } = options
    this.id = id
    this.caller = caller
    this.#view = view
    this.#calls = calls
    this.#current = caller
    this.#access = accessKey(caller)
    const within: ServerSettings['within'] = (ctx, run) => {
      const context = requireContext(ctx)
      return this.#within(() => calls.count(context.call, () => run(context)))
    }
    const listed = (modules: ReadonlySet<string> | undefined) => {
      this.#modules = modules
    }
    this.#events = events
    this.#onClose = options.onClose
    const settings = { view, era: 'session', within, listed } as const
    const onAnswer = (answered: RequestId) => this.#unanswered.delete(answered)
    this.#make = () =>
      new SdkSession({
        id,
        server: servers.create(settings),
        events,
        onAnswer,
        onClose: () => this.#ended(),
      })
  }

  /** Call once, before the first request. */
  async connect(): Promise<void> {
    this.#sdk = this.#make()
    await this.#sdk.connect()
  }

  get listening(): boolean {
    return this.#streams > 0
  }

  /** Whether a request is running. */
  get isCalling(): boolean {
    return this.#running > 0
  }

  /**
   * When it was last used, in monotonic milliseconds. Undefined while a request is running or a
   * stream is open.
   */
  get idleSince(): number | undefined {
    return this.#running > 0 || this.#streams > 0 ? undefined : this.#usedAt
  }

  /** The call that a request makes, if it does not need the SDK. */
  plainCallIn(
    request: Request,
    body: unknown,
    operations: McpContext['operations'],
  ): PlainCall | undefined {
    const call = plainCallIn(body, operations, this.#view)
    if (call?.envelope !== '' || !hasSessionHeaders(request)) return undefined
    const agreed = this.#sdk ? this.#sdk.version : this.#agreed
    return agreed !== undefined && (request.headers.get(VERSION_HEADER) ?? agreed) === agreed
      ? call
      : undefined
  }

  /**
   * Answers a call without the SDK. Undefined if it is refused and the caller's access must be
   * looked up.
   */
  async read(call: PlainCall, context: McpContext): Promise<Response | undefined> {
    const { id } = call
    const refused = this.#unanswered.refusalOf([id])
    if (refused) return refused
    this.#unanswered.add(id)
    try {
      const result = await this.#within(() =>
        this.#calls.count(context.call, () => readTool(context, call)),
      )
      if (result === undefined) return undefined
      this.noteAccess(context.call)
      return plainAnswer({ id, result }, { 'mcp-session-id': this.id })
    } finally {
      this.#unanswered.delete(id)
    }
  }

  /** Passes a request on to the SDK. */
  handle(request: Request, context: McpContext, parsedBody: unknown): Promise<Response> {
    return this.#within(() => this.#handle(request, context, parsedBody))
  }

  async #handle(request: Request, context: McpContext, parsedBody: unknown): Promise<Response> {
    const sdk = await this.#awake()
    this.noteAccess(context.call)
    const ids = request.method === 'POST' ? idsIn(parsedBody) : []
    const refused = this.#unanswered.refusalOf(ids)
    if (refused) return refused
    for (const id of ids) this.#unanswered.add(id)
    const lastEvent = await this.#lastEventOf(request)
    const response = await sdk.handle(request, {
      parsedBody,
      authInfo: authInfoOf(context),
      lastEvent,
    })
    if (!response.ok) for (const id of ids) this.#unanswered.delete(id)
    else if (
      isInitializeRequest(parsedBody) &&
      JSON.stringify(parsedBody).length <= LONGEST_OPENING
    )
      this.#opening = parsedBody
    if (request.method !== 'GET' || !response.ok) return response
    // A notification that was sent while no stream was open is stored, but it is replayed only to a
    // client that sends Last-Event-ID.
    if (this.#changePending && lastEvent === null) this.#sdk?.notifyOfChange()
    this.#changePending = false
    return this.#watched(response)
  }

  /** Notifies the client if its access has changed. */
  noteAccess(now: McpCaller): void {
    const { scopes, principal } = this.#current
    if (now.scopes === scopes && now.principal === principal) return
    this.#current = now
    const access = accessKey(now)
    if (access === this.#access) return
    this.#access = access
    this.#changePending = !this.listening
    this.#sdk?.notifyOfChange()
  }

  /** The session as it last listed tools. */
  get lister(): Lister {
    const changed = (modules: ReadonlySet<string>) => {
      this.#modules = modules
      this.#sdk?.notifyOfTools()
    }
    return { tenantId: this.caller.tenantId, listed: this.#modules, changed }
  }

  /** Ends its streams. Later requests will not find the session. */
  async [Symbol.asyncDispose](): Promise<void> {
    const sdk = this.#sdk ?? (await this.#waking?.catch(() => undefined))
    if (sdk) await sdk.close()
    else this.#ended()
  }

  /**
   * Gives up the SDK's half and the stored events until the next request. Call it only while the
   * session is idle.
   */
  unload(): void {
    const sdk = this.#sdk
    if (sdk?.version === undefined || this.#opening === undefined) return
    this.#agreed = sdk.version
    this.#sdk = undefined
    sdk.forget()
    this.#unanswered.clear()
    this.#events.clear()
  }

  #ended(): void {
    this.#events.clear()
    this.#onClose()
  }

  async #awake(): Promise<SdkSession> {
    if (this.#sdk) return this.#sdk
    this.#waking ??= this.#wake()
    try {
      return await this.#waking
    } finally {
      this.#waking = undefined
    }
  }

  async #wake(): Promise<SdkSession> {
    const sdk = this.#make()
    await sdk.connect(this.#opening)
    this.#sdk = sdk
    return sdk
  }

  /**
   * The event after which a client resumes. What an unloaded session has forgotten cannot be
   * resumed, so the stream starts anew.
   */
  async #lastEventOf({ method, headers }: Request): Promise<string | null> {
    const id = method === 'GET' ? headers.get('last-event-id') : null
    const isForgotten =
      id !== null &&
      this.#agreed !== undefined &&
      (await this.#events.getStreamIdForEventId(id)) === undefined
    return isForgotten ? null : id
  }

  async #within<T>(run: () => Promise<T>): Promise<T> {
    this.#running++
    try {
      return await run()
    } finally {
      this.#running--
      this.#usedAt = performance.now()
    }
  }

  /** Returns the same response, and notices when its stream ends. */
  #watched(response: Response): Response {
    if (!response.body) return response
    this.#streams++
    const ended = () => {
      this.#streams--
      this.#usedAt = performance.now()
    }
    return noticingEnd(response, ended)
  }
}

/** In characters of JSON. */
const LONGEST_OPENING = 16_384
