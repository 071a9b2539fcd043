/**
 * The kinds of operations: the fields that each kind adds, and the traits of its operations. A new
 * kind adds a row to both tables.
 */
import type { Role } from '#kernel/roles'
import type { Access } from '#kernel/scopes'
import type { CapKey, PlanFeature, QuotaKey } from './limits.ts'

/**
 * What the agent may do with a tool before a person is asked. `read`: call it. `draft`: call it
 * while the agent has not read any text of people outside. `commit`: always ask. `safe`: call it in
 * any case. `outside_read`: call it for hosts on the list. `never`: the agent is not offered the
 * tool, but others are.
 */
export type AgentClass = 'read' | 'draft' | 'commit' | 'safe' | 'outside_read' | 'never'

interface Offered {
  /** The name of its MCP tool. */
  tool: string
  agent: AgentClass
  /**
   * The answer contains text of people outside the workspace. An agent that has read it may do less
   * without asking.
   */
  foreign?: true
  /**
   * Over MCP, list the tool only for a client that names this toolset, or all of them. Set for
   * tools beyond those of the API document.
   */
  toolset?: 'content'
}

/** A tool without a class does not compile. */
type Tool = (Offered | { [N in keyof Offered]?: undefined }) & {
  /** Acts outside this deployment, on a network that others see. */
  outside?: boolean
}

interface Change {
  /** Cannot be undone, or leaves the workspace. Agents ask before they call such a tool. */
  destructive?: boolean
  /** Idempotent even without an Idempotency-Key. */
  repeatable?: boolean
}

interface Commanded extends Change {
  /**
   * The answer contains a secret that is shown once. The copy of the answer that is kept for
   * replays is sealed.
   */
  secret?: boolean
  /**
   * Jumps the mailbox's queue, because it recalls work that is about to go out: the kill switch,
   * disconnecting.
   */
  urgent?: boolean
  /**
   * May take back a send that is about to go out. Its letter does not share its transaction with
   * any other.
   */
  recalls?: boolean
  /**
   * The command runs as several letters, each with at most `most` entries of the list in this
   * field. The answer is one list, in the same order.
   */
  inParts?: { field: string; most: number }
  /** Also works while the workspace is about to be deleted. */
  whileDeleting?: boolean
  /**
   * The operation to poll until the record has settled; set on operations that start a generation
   * or a job. Either a name within the same resource or a full id. It is a list if no operation
   * reads the single record.
   */
  settles?: string
  /** Within a job of the agent, the step that calls it waits for the job that it starts. */
  delegates?: true
  /**
   * With this field true, a call also does what another operation of the same roles does. The
   * limits of that operation hold for such a call, and so does what forbids the agent its tool.
   */
  includes?: { field: string; of: Included }
  /** The hourly cap that it counts against. */
  cap?: CapKey | undefined
  /** The monthly quota that it counts against. */
  quota?: QuotaKey | undefined
  /** Plans without it refuse the operation. */
  feature?: PlanFeature | undefined
}

/** What counts of an operation that a call includes. */
export interface Included {
  tool?: string | undefined
  outside?: boolean | undefined
  cap?: CapKey | undefined
  quota?: QuotaKey | undefined
  feature?: PlanFeature | undefined
}

type WorkspaceChange = Tool & Commanded

interface Fields {
  /**
   * Reads a workspace. With `stream`, a text/event-stream answer continues with what happens next.
   * `events`: they are stored, and the input has `id` and `after`. `hints`: nothing is stored.
   */
  query: Tool & { stream?: 'events' | 'hints' }
  /** Changes a workspace: one letter in its mailbox. */
  command: WorkspaceChange
  /**
   * A command that answers with the outcome of the work it starts. After 20 seconds, or those in
   * its field `wait`, it answers 202 with the current record.
   */
  awaited: WorkspaceChange
  /**
   * A command that first calls a network, outside the mailbox, and then decides with its answer.
   */
  prepared: WorkspaceChange
  /** Concerns a person rather than a workspace, and requires that person's session. */
  personal: Change
  /** Needs no credential: signing in, refreshing a session, accepting an invitation. */
  public: Change
  /** Streams records of a workspace as a file, one per line; `output` is the schema of a line. */
  download: {
    /** The file name without extension. */
    file: string
  }
  /** Reads the bytes of a stored file. */
  file: object
}

export type Kind = keyof Fields

type KeyOfAny<T> = T extends unknown ? keyof T : never

/**
 * The fields of a kind. The fields of other kinds are declared as undefined, so that code can read
 * them without narrowing.
 */
export type FieldsOf<K extends Kind> = Fields[K] & {
  [N in Exclude<KeyOfAny<Fields[Kind]>, keyof Fields[K]>]?: undefined
}

interface Traits {
  /** Runs as a letter in the workspace's mailbox, so an Idempotency-Key replays its answer. */
  letter: boolean
  /** The default scope. */
  scope: Access
  /** The roles besides owner that can call it by default. */
  roles: readonly Role[]
  /** The largest body, in bytes. */
  bodyLimit: number
}

/** The largest body in bytes, with and without a credential. */
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
  file: { letter: false, scope: 'api:read', roles: everybody, bodyLimit: BODY_LIMIT },
}
