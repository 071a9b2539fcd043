/** The kinds of operations: the fields that each adds, and what its operations have in common. Another kind is another row in both. */
import type { Role } from '#kernel/roles'
import type { Access } from '#kernel/scopes'
import type { CapKey, PlanFeature, QuotaKey } from './limits.ts'

interface Tool {
  /** Its name as a tool of the MCP server. */
  tool?: string
  /** Reaches beyond this deployment: a network that others see. */
  outside?: boolean
}

interface Change {
  /** What cannot be taken back, or leaves the workspace: agents ask before they call such a tool. */
  destructive?: boolean
  /** Doing it twice is the same as doing it once, without any key. */
  repeatable?: boolean
}

interface WorkspaceChange extends Tool, Change {
  /** The answer holds a secret that is shown once: what is kept of it for a replay is sealed. */
  secret?: boolean
  /** Goes before everything that waits, because it recalls what is about to go out: the kill switch, disconnecting. */
  urgent?: boolean
  /** Is carried out while the workspace waits for its deletion too. */
  whileDeleting?: boolean
  /**
   * A generation: the operation that reads its record until it is neither queued nor being generated. A name of the same
   * resource, or a whole id. A list stands in where no operation reads the one record.
   */
  settles?: string
  /** The hourly cap that it takes one of. */
  cap?: CapKey | undefined
  /** The monthly quota that it takes from. */
  quota?: QuotaKey | undefined
  /** Plans without it refuse the operation. */
  feature?: PlanFeature | undefined
}

interface Fields {
  /** Reads a workspace. */
  query: Tool
  /** Changes a workspace: one letter in its mailbox. */
  command: WorkspaceChange
  /** A command whose reply is the outcome of the work that it begins. It answers 202 with the record as it stands when that takes long. */
  awaited: WorkspaceChange
  /** A command that asks a network first, while nothing of the workspace waits for it, and decides on what the network said. */
  prepared: WorkspaceChange
  /** Concerns a person rather than a workspace, and takes that person's session. */
  personal: Change
  /** Open to anybody, without a credential: signing in, refreshing a session, accepting an invitation. */
  public: Change
  /** Streams records of a workspace as a file, one a line; `output` is the schema of one. */
  download: {
    /** The name of the file, without its extension. */
    file: string
  }
}

export type Kind = keyof Fields

type KeyOfAny<T> = T extends unknown ? keyof T : never

/** The fields of a kind. Those of other kinds can be read, and are never there. */
export type FieldsOf<K extends Kind> = Fields[K] & { [N in Exclude<KeyOfAny<Fields[Kind]>, keyof Fields[K]>]?: undefined }

interface Traits {
  /** Runs as a letter in the mailbox of a workspace, so that an Idempotency-Key replays its answer. */
  letter: boolean
  /** Unless an operation says otherwise. */
  scope: Access
  /** Members who can call it, unless an operation says otherwise. */
  roles: readonly Role[]
  /** The largest body, in bytes. */
  bodyLimit: number
}

/** The largest body, in bytes: of an operation that takes a credential, and of one that anybody may call. */
export const BODY_LIMIT = 1_048_576
export const PUBLIC_BODY_LIMIT = 16_384

const everybody: readonly Role[] = ['editor', 'approver', 'viewer']
const change: Traits = { letter: true, scope: 'api:write', roles: [], bodyLimit: BODY_LIMIT }

export const kinds: Record<Kind, Traits> = {
  query: { letter: false, scope: 'api:read', roles: everybody, bodyLimit: BODY_LIMIT },
  command: change,
  awaited: change,
  prepared: change,
  personal: { letter: false, scope: 'session', roles: everybody, bodyLimit: BODY_LIMIT },
  public: { letter: false, scope: 'public', roles: everybody, bodyLimit: PUBLIC_BODY_LIMIT },
  download: { letter: false, scope: 'session', roles: everybody, bodyLimit: BODY_LIMIT },
}
