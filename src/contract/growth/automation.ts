import { op } from '../op.ts'
import { record } from '../shapes.ts'
import { Automation } from '../shared-records.ts'

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
