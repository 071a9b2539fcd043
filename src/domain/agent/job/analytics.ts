/** What the agent did over several days, as callers see it. */
import { addDays, dayAt, startOfDay } from '#kernel/calendar'

export type AnalyticsWindow = '7d' | '30d'

const LENGTHS: Record<AnalyticsWindow, number> = { '7d': 7, '30d': 30 }

/** The days of a window; the last one is today. */
export interface Days {
  days: string[]
  /** When each of these days began. */
  starts: Date[]
}

export const daysOf = (window: AnalyticsWindow, now: Date, timeZone: string): Days => {
  const length = LENGTHS[window]
  const first = addDays(dayAt(now, timeZone), 1 - length)
  const days = Array.from({ length }, (_, index) => addDays(first, index))
  return { days, starts: days.map((day) => startOfDay(day, timeZone)) }
}

/** The jobs that ended on one day. Days are numbered from 1. */
export interface EndedOnDay {
  day: number
  completed: number
  failed: number
  cancelled: number
}

export const tasksView = ({ days }: Days, ended: readonly EndedOnDay[], running: number) => {
  const byDay = new Map(ended.map((one) => [one.day, one]))
  const total = (key: 'completed' | 'failed' | 'cancelled') =>
    ended.reduce((sum, one) => sum + one[key], 0)
  return {
    completed: total('completed'),
    failed: total('failed'),
    cancelled: total('cancelled'),
    running,
    by_day: days.map((date, index) => {
      const { completed = 0, failed = 0 } = byDay.get(index + 1) ?? {}
      return { date, completed, failed }
    }),
  }
}

/** Calls of tools that the workspace no longer has. */
const NO_MODULE = 'other'

/**
 * `moduleOf`: the module of a tool; undefined if the tool no longer exists. The most called tools
 * come first.
 */
export const actionsView = (
  calls: readonly { tool: string; calls: number }[],
  moduleOf: (tool: string) => string | undefined,
) => {
  const by_tool = calls.map(({ tool, calls }) => ({
    tool,
    module: moduleOf(tool) ?? NO_MODULE,
    calls,
  }))
  const sums = new Map<string, number>()
  for (const { module, calls } of by_tool) sums.set(module, (sums.get(module) ?? 0) + calls)
  const by_module = [...sums]
    .map(([module, calls]) => ({ module, calls }))
    .sort((a, b) => b.calls - a.calls)
  return { total: by_module.reduce((sum, one) => sum + one.calls, 0), by_tool, by_module }
}

/** Costs are counted in hundredths of a cent. */
const IN_CENT = 100

export const costView = ({
  cost,
  ...tokens
}: {
  cost: number
  input_tokens: number
  output_tokens: number
}) => ({
  usd_cents: Math.ceil(cost / IN_CENT),
  ...tokens,
  // Costs are computed from list prices.
  is_estimated: true as const,
})
