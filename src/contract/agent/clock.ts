import { Type as T } from '@sinclair/typebox'
import { use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { record, Time } from '../shapes.ts'

export const clockCapabilities = {
  get_current_time: op.query(
    'GET /api/v1/actions/get_current_time',
    'Get the current time. In UTC and in a time zone.',
    {
      input: {
        timeZone: T.Optional(
          T.String({
            format: 'time-zone',
            maxLength: 64,
            description: 'An IANA time zone. Default: that of the workspace.',
          }),
        ),
      },
      output: record({
        now: Time,
        timeZone: T.String(),
        localTime: T.String({
          description: 'On the clocks of the time zone, such as 2026-11-16 09:00.',
        }),
      }),
    },
    { ...use, tool: 'get_current_time', agent: 'read' },
  ),
}
