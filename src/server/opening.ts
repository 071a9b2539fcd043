/** What the parts of a server are opened with. */
import type { AnyLane } from '#actors/engine/lane'
import type { MailboxOptions } from '#actors/engine/mailbox'
import type { SweepDeps } from '#actors/work/app/sweep'
import type { Config } from '#config/config'
import type { ToolBox } from '#decisions/agent/toolbox'
import type { WebhookTimes } from '#domain/app/webhook'
import type { SendTimes } from '#domain/growth/sending/times'
import type { ConsoleState } from '#edge/console/bundle'
import type { StreamTimes } from '#edge/event-streams'
import type { IntakeLimits } from '#edge/intake'
import type { ServerFactory } from '#edge/mcp/server'
import type { McpLimits } from '#edge/mcp/sessions'
import type { Clock } from '#kernel/clock'
import type { Failpoints } from '#kernel/failpoint'
import type { Limits } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { SecretKeys } from '#kernel/secret-keys'
import type { Tracer } from '#kernel/trace'
import type { ChannelAdapters } from '#port/channel/registry'
import type { EgressOptions } from '#port/egress/egress'
import type { BucketTimes } from '#port/files/s3/bucket'
import type { McpClient } from '#port/mcp-client/client'
import type { Drafter } from '#port/model/drafter'
import type { Thinker } from '#port/model/thinker'
import type { PasswordCost } from '#port/passwords'
import type { Texts } from '#port/texts/texts'
import type { ConnectionOptions } from '#store/engine/db'
import type { Meters } from './metrics/meters.ts'
import type { SenderLimits } from './traces/sender.ts'
import type { DeploymentWatch } from './watching.ts'

/** Work that a server repeats at an interval. */
export type Recurring = 'erasure' | 'sweep' | 'removal'

/** Replacements for tests and for single commands. */
export interface Overrides {
  times?: SendTimes
  webhookTimes?: WebhookTimes
  /** If empty, the due work is left to other processes. */
  lanes?: AnyLane[]
  drafter?: Drafter
  texts?: Texts
  /** Resolves the names of addresses that workspaces chose. */
  resolve?: EgressOptions['resolve']
  /** The agent's model. */
  thinker?: Thinker
  /** Further tools of the agent. */
  tools?: (box: ToolBox) => ToolBox
  /** How long a tool of the agent may take outside letters. */
  toolMs?: number
  failpoints?: Failpoints
  /** The clock of the actors. */
  clock?: Clock
  replyWithinMs?: number
  idleMs?: number
  sweepMs?: number
  erasure?: { everyMs: number; rows: number }
  removalMs?: number
  /** What this server does of the recurring work. Default: all. */
  recurring?: readonly Recurring[]
  bucketTimes?: Partial<BucketTimes>
  sweep?: Partial<Pick<SweepDeps, 'everyMs' | 'rows' | 'tenants'>>
  mailbox?: MailboxOptions
  mcpLimits?: Partial<McpLimits>
  streamTimes?: Partial<StreamTimes>
  streamLimits?: Partial<Limits>
  passwordCost?: PasswordCost
  /** How long a server that stops reads what clients had already sent. */
  lastRequestsMs?: number
  /** The clock for the rates of requests. */
  rateClock?: Clock
  intake?: Partial<IntakeLimits>
  /** Calls the MCP servers of workspaces. */
  mcpClient?: McpClient
  /** The channels of the deployment, in place of the usual ones. */
  channels?: (usual: ChannelAdapters) => ChannelAdapters
  /** Replaces the MCP servers of the operations. */
  mcpServers?: ServerFactory
  /** A console that is built already. */
  console?: () => ConsoleState
  watching?: DeploymentWatch
  traceLimits?: Partial<SenderLimits>
}

/** What each part is opened with. */
export interface StartupContext {
  config: Config
  options: ConnectionOptions
  /** The deployment's secret keys. */
  keys: SecretKeys
  log: Log
  overrides: Overrides
  failpoints: Failpoints
  /** Undefined if nobody can read metrics. */
  meters: Meters | undefined
  /** Undefined: there are no traces. */
  tracer: Tracer | undefined
  /** Closes what was opened, in reverse order. */
  stack: AsyncDisposableStack
}
