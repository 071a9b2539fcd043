/**
 * Who wrote what a job reads of its conversation, and whether they may do at this moment all that
 * its caller may. The words of anybody who may not would act with the rights of somebody else: they
 * are treated as those of people outside. Pure.
 */
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'

/** As a message names them. */
export interface MessageAuthor {
  kind: 'key' | 'session' | 'channel'
  id: string
  personId: string | null
}

/**
 * What a caller may do: a role, or null for a key of the workspace; the scopes of a key, or null
 * for a person.
 */
export interface Rights {
  role: Role | null
  scopes: readonly Scope[] | null
}

/** An author as of now. */
export interface AuthorNow extends MessageAuthor, Rights {
  /** Of the person or key; null if nothing is known of them any more. */
  name: string | null
  /** No member any more, or the key has ended, or the sender is no longer linked. */
  gone: boolean
}

/** Those that operations ask for. The others are ways in. */
const ASKED: readonly Scope[] = ['api:read', 'api:write', 'workspace:use']

const roleIn = ({ role }: Rights): Role => role ?? 'owner'

/**
 * Whether whoever has one role may call whatever another may. Neither an editor nor an approver may
 * do all that the other may.
 */
export const coversRole = (role: Role, other: Role): boolean =>
  role === other || role === 'owner' || other === 'viewer'

/**
 * Whether an author may do all that a caller may. What takes a signed-in person no job does by
 * itself, so it is not asked.
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

/** On one line, without what only machines see. */
const plain = (name: string): string =>
  [...name.replace(/\s+/g, ' ').replace(/\p{C}/gu, '').trim()].slice(0, LONGEST_NAME).join('')

/** As taint and models name an author. */
const nameOf = ({ name }: AuthorNow): string =>
  (name === null ? '' : plain(name)) || 'somebody who has left'

/** As taint names the words of a member. */
const sourceOf = (author: AuthorNow): string => `member ${nameOf(author)}`

const labelOf = (author: AuthorNow): string => {
  if (author.gone) return `${nameOf(author)} (no member any more)`
  const role = author.role ?? 'workspace'
  return `${nameOf(author)} (${author.kind === 'key' ? `key, ${role}` : role})`
}

const keyOf = ({ kind, id, personId }: MessageAuthor): string =>
  kind === 'session' ? `person ${personId}` : `${kind} ${id}`

/** Authors that are somebody here, and not the caller. */
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
 * Authors beyond those who were asked about are nobody any more: more than are looked up must not
 * let one of them pass for the caller.
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

/** An author, as a job's model is told of them. */
export interface Named {
  label: string
  /** The caller of the job. */
  isSelf: boolean
  /** Their words are not the caller's, and they may do less. */
  isLesser: boolean
  source: string
}

/** Those whose words a job is given, by how messages name them. */
export class Authors {
  readonly #named = new Map<string, Named>()
  /** The job's caller. */
  readonly self: Named

  /** `others`: than the caller. */
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

  /** Undefined for whom no message of a person is from. */
  of(author: MessageAuthor | null | undefined): Named | undefined {
    return author ? this.#named.get(keyOf(author)) : undefined
  }

  /** What the words of those who may do less taint a job with. */
  get sources(): string[] {
    return [
      ...new Set(
        [...this.#named.values()].flatMap(({ isLesser, source }) => (isLesser ? source : [])),
      ),
    ].sort()
  }

  /** Whether some of a text's authors may do less. */
  anyLesser(authors: readonly MessageAuthor[]): boolean {
    return authors.some((author) => this.of(author)?.isLesser)
  }
}
