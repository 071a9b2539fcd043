/** Schedules as people, and as the agent, see them. */
import type { Schedule } from './schedule.ts'

const shared = (schedule: Schedule) => {
  const {
    id,
    at,
    pattern,
    time_zone,
    tools,
    status,
    paused_by,
    next_at,
    last_at,
    missed,
    failures,
    created_at,
  } = schedule
  return {
    ...{
      id,
      at,
      cron: pattern,
      timeZone: time_zone,
      tools,
      status,
      pausedBy: paused_by,
      nextRunAt: next_at,
      lastRunAt: last_at,
    },
    ...{ missedRuns: missed, failures, createdAt: created_at },
  }
}

export const scheduleView = (schedule: Schedule) => {
  const { goal, conversation_id, last_job_id, taint, updated_at } = schedule
  return {
    ...shared(schedule),
    goal,
    conversationId: conversation_id,
    lastJobId: last_job_id,
    taint,
    updatedAt: updated_at,
  }
}

export const scheduledTaskView = (schedule: Schedule) => {
  const { goal, taint } = schedule
  return {
    ...shared(schedule),
    ...(taint.length > 0 ? { goal: null, untrustedGoal: goal } : { goal, untrustedGoal: null }),
  }
}
