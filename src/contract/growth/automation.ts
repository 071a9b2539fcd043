import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { oneOf, record, Time } from '../shapes.ts'

export const Automation = record(
  {
    paused: T.Boolean({ description: 'Nothing starts unattended.' }),
    in_flight: T.Array(
      record({
        item_id: T.Optional(T.String({ format: 'uuid', description: 'Of a post.' })),
        engagement_id: T.Optional(T.String({ format: 'uuid', description: 'Of an engagement.' })),
        origin: oneOf(['manual', 'automatic'], { description: 'manual: a person or a program asked for it now.' }),
        since: Time,
      }),
      { description: 'Posts and engagements that are on the wire and can no longer be recalled; each has one of the ids.' },
    ),
  },
  { title: 'Automation' },
)

const answer = { input: {}, output: record({ automation: Automation }) }

export const automation = {
  pauseAll: op(
    'POST /api/v1/growth/automation/pause-all',
    'Pause all automation. The kill switch: after the answer nothing starts unattended. Claimed posts that were not sent are recalled; people may still draft, approve and post now.',
    answer,
    { tool: 'growth_pause_automation', urgent: true, exempt: ['rates', 'answers'], roles: ['editor', 'approver'], repeatable: true },
  ),
  resumeAll: op(
    'POST /api/v1/growth/automation/resume-all',
    'Resume automation. What is scheduled goes out again; posts that fell due meanwhile follow on_missed.',
    answer,
    {
      tool: 'growth_resume_automation',
      roles: ['approver'],
      outside: true,
      repeatable: true,
    },
  ),
}
