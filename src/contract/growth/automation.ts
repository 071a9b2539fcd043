import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { NamedAuthorSchema, nullable, oneOf, record, Time } from '../shapes.ts'
import { Automation } from '../shared-records.ts'

const answer = { input: {}, output: record({ automation: Automation }) }

/** Of the whole deployment; people cannot end it. */
const Held = record(
  {
    since: Time,
    cause: oneOf(['copied', 'restored', 'asked'], {
      description:
        'copied: the database is a copy of another deployment. restored: it was restored from a backup. asked: the operator started the server held.',
    }),
    as_of: nullable({
      ...Time,
      description: 'When the backup or copy was made, if that is known.',
    }),
  },
  { title: 'Held' },
)

const State = record(
  {
    ...Automation.properties,
    since: nullable({ ...Time, description: 'Since when it is paused; null while it is not.' }),
    by: nullable(NamedAuthorSchema),
    held: nullable(Held, {
      description:
        'Set while the operator holds the whole deployment: nothing goes out unattended in any workspace, paused or not. Only the operator can end that.',
    }),
    paused_everywhere_since: nullable({
      ...Time,
      description:
        'Since when the operator has paused every workspace: nothing starts unattended in any, paused or not. Null while that is not so. Only the operator can end it.',
    }),
    on_resuming: nullable(
      record(
        {
          sent: T.Integer({ description: 'They go out as soon as their accounts take them.' }),
          skipped: T.Integer({ description: 'They return to approved, unscheduled.' }),
        },
        {
          description:
            'What becomes of the posts that have fallen due since, by their lateness and on_missed, the account and the plan; null while nothing is paused. A post with the same text as one in doubt counts as sent, but is skipped if that one is still in doubt.',
        },
      ),
    ),
  },
  { title: 'AutomationState' },
)

export const automation = {
  get: op.query(
    'GET /api/v1/growth/automation',
    'Read whether all automation is paused, since when and by whom. Also whether the operator has paused every workspace or holds the deployment, what is on its way to the network, and what would become of overdue posts on resuming.',
    { input: {}, output: record({ automation: State }) },
  ),
  pauseAll: op.command(
    'POST /api/v1/growth/automation/pause-all',
    'Pause all automation. The kill switch: once it responds, nothing starts unattended. Unsent posts are recalled. People can still draft, approve and post now.',
    answer,
    {
      tool: 'growth_pause_automation',
      agent: 'safe',
      urgent: true,
      exempt: ['rates', 'answers'],
      roles: ['editor', 'approver'],
      repeatable: true,
    },
  ),
  resumeAll: op.command(
    'POST /api/v1/growth/automation/resume-all',
    'Resume automation. Scheduled posts go out again; posts that fell due in the meantime follow on_missed.',
    answer,
    {
      tool: 'growth_resume_automation',
      agent: 'commit',
      roles: ['approver'],
      destructive: true,
      outside: true,
      repeatable: true,
    },
  ),
}
