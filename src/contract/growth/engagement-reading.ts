/** Reading one engagement. */
import { Engagement } from '../engagement-record.ts'
import { op } from '../op.ts'
import { Id, record } from '../shapes.ts'
import { way } from '../way.ts'

const EngagementWithWay = record({ ...Engagement.properties, ...way }, { title: 'EngagementWithWay' })

export const engagementReading = {
  get: op.query(
    'GET /api/v1/growth/engagements/:id',
    'Read one engagement, with its whole way: the versions of its text, what was decided of it, and each try to send it, with what the network showed while it was in doubt.',
    { input: { id: Id }, output: record({ engagement: EngagementWithWay }) },
    { errors: ['not_found'] },
  ),
}
