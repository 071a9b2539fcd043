/**
 * Who wrote what a job reads of its conversation, and whether they may currently do everything that
 * its caller may. Otherwise their words would act with somebody else's rights, so they are treated
 * like those of outsiders. Pure.
 */
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'

/** The author as messages name them. */
export interface MessageAuthor {
  kind: 'key' | 'session' | 'channel'
  id: string
  personId: string | null
}

/**
 * The rights of a caller: a role, or null for a key of the workspace; the scopes of a key, or null
 * for a person.
 */
export interface Rights {
  role: Role | null
  scopes: readonly Scope[] | null
}

/** An author, with their present rights. */
export interface AuthorNow extends MessageAuthor, Rights {
  /** The rights of the person or key; null if they no longer have any. */
  name: string | null
  /** Whether they are no longer a member, the key has ended, or the sender is no longer linked. */
  gone: boolean
}

/** The scopes that operations require. The others only give access to a surface. */
const ASKED: readonly Scope[] = ['api:read', 'api:write', 'workspace:use']

const roleIn = ({ role }: Rights): Role => role ?? 'owner'

/**
 * Whether one role may call everything that another may. Of an editor and an approver, neither may
 * do everything that the other may.
 */
export const coversRole = (role: Role, other: Role): boolean =>
  role === other || role === 'owner' || other === 'viewer'

/**
 * Whether an author may do everything that a caller may. Operations that need a signed-in person do
 * not count, because no job runs them by itself.
 */
export const mayAsMuch = (author: Rights & { gone: boolean }, caller: Rights): boolean =>
  !author.gone &&
  coversRole(roleIn(author), roleIn(caller)) &&
  ASKED.every(
    (scope) =>
      author.scopes === null ||
      author.scopes.includes(scope) ||
      (caller.scopes !== null && !caller.scopes.includes(scope)),
  )

/** In characters. */
const LONGEST_NAME = 60

/** The name on one line, without invisible characters. */
const plain = (name: string): string =>
  [...name.replace(/\s+/g, ' ').replace(/\p{C}/gu, '').trim()].slice(0, LONGEST_NAME).join('')

/** An author's name in taint and for models. */
const nameOf = ({ name }: AuthorNow): string =>
  (name === null ? '' : plain(name)) || 'somebody who has left'

/** The taint of a member's words. */
const sourceOf = (author: AuthorNow): string => `member ${nameOf(author)}`

const labelOf = (author: AuthorNow): string => {
  if (author.gone) return `${nameOf(author)} (no member any more)`
  const role = author.role ?? 'workspace'
  return `${nameOf(author)} (${author.kind === 'key' ? `key, ${role}` : role})`
}

const keyOf = ({ kind, id, personId }: MessageAuthor): string =>
  kind === 'session' ? `person ${personId}` : `${kind} ${id}`

/** The authors who are known here and are not the caller. */
export const othersIn = (
  authors: readonly (MessageAuthor | null)[],
  caller: MessageAuthor,
): MessageAuthor[] =>
  authors.flatMap((author) =>
    author && KINDS.includes(author.kind) && keyOf(author) !== keyOf(caller) ? author : [],
  )

const KINDS: readonly string[] = ['key', 'session', 'channel'] satisfies MessageAuthor['kind'][]

const isSame = (a: MessageAuthor, b: MessageAuthor): boolean =>
  keyOf(a) === keyOf(b) || (a.personId !== null && a.personId === b.personId)

/**
 * Authors who were not looked up, because there are too many, count as nobody: otherwise one of
 * them could pass for the caller.
 */
export const withUnknown = (
  asked: readonly MessageAuthor[],
  known: readonly AuthorNow[],
): AuthorNow[] => {
  const keys = new Set(known.map(keyOf))
  const unknown = asked.filter((author) => !keys.has(keyOf(author)))
  return [
    ...known,
    ...unknown.map((author) => ({ ...author, role: null, scopes: [], name: null, gone: true })),
  ]
}

/** An author as the job's model is told about them. */
export interface Named {
  label: string
  /** Whether they are the caller of the job. */
  isSelf: boolean
  /** Whether their words are not the caller's, and they may do less. */
  isLesser: boolean
  source: string
}

/** The authors of what a job is given, by the names that messages have for them. */
export class Authors {
  readonly #named = new Map<string, Named>()
  /** The job's caller. */
  readonly self: Named

  /** `others`: authors other than the caller. */
  constructor(
    others: readonly AuthorNow[],
    caller: MessageAuthor,
    rights: Rights & { name: string | null },
  ) {
    for (const author of others) {
      const [isSelf, isLesser] = [isSame(author, caller), !mayAsMuch(author, rights)]
      this.#named.set(keyOf(author), {
        label: labelOf(author),
        isSelf,
        isLesser,
        source: sourceOf(author),
      })
    }
    const self = { ...caller, ...rights, gone: false }
    this.self = { label: labelOf(self), isSelf: true, isLesser: false, source: sourceOf(self) }
    this.#named.set(keyOf(caller), this.self)
  }

  /** Undefined for anybody who wrote none of what the job is given. */
  of(author: MessageAuthor | null | undefined): Named | undefined {
    return author ? this.#named.get(keyOf(author)) : undefined
  }

  /** The taint from the words of authors who may do less. */
  get sources(): string[] {
    return [
      ...new Set(
        [...this.#named.values()].flatMap(({ isLesser, source }) => (isLesser ? source : [])),
      ),
    ].sort()
  }

  /** Whether any author of a text may do less. */
  anyLesser(authors: readonly MessageAuthor[]): boolean {
    return authors.some((author) => this.of(author)?.isLesser)
  }
}
