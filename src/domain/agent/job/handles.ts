/**
 * Short names for records, such as `item:3`. Models never see uuids, which cost tokens and can be
 * made up. A handle is valid only in its conversation, and is never given to another record.
 */
import { fail } from '#kernel/errors'

/** Handle → uuid. */
export type Handles = Readonly<Record<string, string>>

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Matches wherever a handle begins, even inside another one. */
const UUIDS = /(?=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))/gi
const HANDLE = /^[a-z_]{1,40}:\d{1,9}$/

/** `batches` → batch, `replies` → reply, `items` → item. */
const singular = (name: string): string =>
  name
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x|s)es$/, '$1')
    .replace(/([^s])s$/, '$1')

const kindOf = (name: string, around: string): string => {
  if (name === 'id' || name === 'ref') return around
  return singular(name.replace(/_ids?$|Ids?$/, '')).toLowerCase()
}

/**
 * The parts of an answer's JSON Schema that say what its records are called: `called` in the
 * contract.
 */
export interface Naming {
  'x-called'?: string | { by: string; as?: Record<string, string> }
  properties?: Record<string, Naming>
  items?: Naming
  anyOf?: readonly Naming[]
  enum?: readonly unknown[]
}

/** Of several alternatives, the one for the value's kind, or else the first. */
const formOf = (naming: Naming, value: unknown): Naming => {
  const forms = naming.anyOf?.filter(({ properties, items }) => properties ?? items) ?? []
  const kind = forms.length > 1 && (value as { kind?: unknown } | null)?.kind
  return (
    forms.find(({ properties }) => properties?.kind?.enum?.includes(kind)) ?? forms[0] ?? naming
  )
}

/** What the value of a field is called: according to its schema, or else its own name. */
const nameOf = (naming: Naming, value: unknown, usual: string): string => {
  const said = naming['x-called'] ?? formOf(naming, value)['x-called'] ?? usual
  if (typeof said === 'string') return said
  const word = String((value as Record<string, unknown> | null)?.[said.by] ?? usual)
  return said.as?.[word] ?? word
}

/** The handles of a conversation. Records that are shown for the first time are added. */
export class HandleBook {
  readonly #byUuid = new Map<string, string>()
  readonly #last = new Map<string, number>()
  readonly added: Record<string, string> = {}
  /**
   * The ids in people's text, cached for the last text: a call has many arguments, and the text is
   * searched only once.
   */
  #typed: { text: string; uuids: ReadonlySet<string> } | undefined

  constructor(private readonly known: Handles) {
    for (const [handle, uuid] of Object.entries(known)) this.#note(handle, uuid)
  }

  /** A copy of an answer with handles instead of ids. */
  shorten(value: unknown, naming: Naming = {}): unknown {
    return this.#shortened(value, formOf(naming, value), nameOf(naming, value, 'record'))
  }

  #shortened(value: unknown, { items = {}, properties = {} }: Naming, around: string): unknown {
    if (isUuid(value)) return this.#handle(around, value)
    if (Array.isArray(value))
      return value.map((one) =>
        this.#shortened(one, formOf(items, one), nameOf(items, one, around)),
      )
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => {
        const naming = properties[name] ?? {}
        return [
          name,
          this.#shortened(one, formOf(naming, one), nameOf(naming, one, kindOf(name, around))),
        ]
      }),
    )
  }

  /**
   * A copy of arguments with ids instead of handles. A plain id is accepted only if this
   * conversation has shown it, or if `typed`, the text of its people, contains it. Throws
   * `not_found`.
   */
  resolve(args: unknown, typed: string, name = ''): unknown {
    if (Array.isArray(args)) return args.map((one) => this.resolve(one, typed, name))
    if (typeof args === 'string') return this.#resolved(args, typed, name)
    if (typeof args !== 'object' || args === null) return args
    return Object.fromEntries(
      Object.entries(args).map(([field, one]) => [field, this.resolve(one, typed, field)]),
    )
  }

  #resolved(text: string, typed: string, name: string): string {
    if (Object.hasOwn(this.known, text)) return this.known[text]!
    const isId = name === 'id' || /(_id|Id)s?$/.test(name)
    if ((isId && HANDLE.test(text)) || (isUuid(text) && !this.#isKnown(text.toLowerCase(), typed)))
      fail('not_found', `no such record in this conversation: ${text}`)
    return text
  }

  #isKnown(uuid: string, typed: string): boolean {
    if (this.#byUuid.has(uuid)) return true
    if (this.#typed?.text !== typed)
      this.#typed = {
        text: typed,
        uuids: new Set([...typed.toLowerCase().matchAll(UUIDS)].map(([, one]) => one!)),
      }
    return this.#typed.uuids.has(uuid)
  }

  #handle(kind: string, uuid: string): string {
    const before = this.#byUuid.get(uuid.toLowerCase())
    if (before) return before
    const handle = `${kind}:${(this.#last.get(kind) ?? 0) + 1}`
    this.#note(handle, uuid)
    this.added[handle] = uuid
    return handle
  }

  #note(handle: string, uuid: string): void {
    const [kind = '', number = '0'] = handle.split(':')
    this.#byUuid.set(uuid.toLowerCase(), handle)
    this.#last.set(kind, Math.max(this.#last.get(kind) ?? 0, Number(number)))
  }
}

const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID.test(value)
