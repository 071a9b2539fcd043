import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { record } from '../shapes.ts'

export const liveEvents = {
  follow: op.query(
    'GET /api/v1/app/events',
    'Follow what changes in the workspace. As text/event-stream, begins with resync, then tells of each change with a hint: what was done, the kind and id of the record, and by whom. Nothing is stored, so after resync read again what you show. Without that Accept header, only says so.',
    { input: {}, output: record({ resync: T.Literal(true) }) },
    { stream: 'hints' },
  ),
}
