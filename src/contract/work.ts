/** The kinds and lanes of background work. The rules of each kind are in decisions/work.ts. */

export const workKinds = [
  'send',
  'reconcile',
  'batch',
  'article',
  'growth_audit',
  'report',
  'redraft',
  'engagement',
  'metrics',
  'watch',
  'mentions',
  'posted_read',
  'renewal',
  'marks',
  'rule',
  'rule_cron',
  'weekly_report',
  'delivery',
  'agent',
  'agent_schedule',
  'ingest',
  'mcp_look',
  'channel_check',
  'channel_fetch',
  'channel_reply',
] as const
export type WorkKind = (typeof workKinds)[number]

/**
 * The groups that take turns while much work is due. Work that people have chosen a time for comes
 * first, and has every other turn.
 */
export const workLanes = ['publish', 'agent', 'delivery', 'ingest', 'generation', 'sync'] as const
export type WorkLane = (typeof workLanes)[number]
