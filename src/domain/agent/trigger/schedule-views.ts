/** Schedules as people and the agent see them. */
import { scheduleRecord } from '#contract/records/agent/schedule'
import { viewOf } from '#contract/records/view'
import type { Schedule } from './schedule.ts'

export const scheduleView = viewOf(scheduleRecord)

export const scheduledTaskView = (schedule: Schedule) => {
  const {
    goal,
    conversationId: _,
    lastJobId: __,
    taint,
    updatedAt: ___,
    ...shown
  } = scheduleView(schedule)
  return {
    ...shown,
    ...(taint.length > 0 ? { goal: null, untrustedGoal: goal } : { goal, untrustedGoal: null }),
  }
}
