/** Who may be told of records that may belong to private conversations. */
import type { ToolBox } from '#decisions/agent/toolbox'
import { type MadeIn, whereMade } from '#store/agent/visibility'
import type { Db } from '#store/engine/db'
import type { Principal } from '#store/engine/principal'
import type { Secrecy } from '../../app/events/hint-bus.ts'
import { mayRunTool } from '../approval/standing.ts'

const sees = ({ visibility, person_id, people }: MadeIn, { member }: Principal): boolean =>
  visibility !== 'private' ||
  (member !== undefined &&
    (person_id === member.personId || (people ?? []).includes(member.personId)))

/**
 * As the lists of these records show them: an approval of a private conversation is also shown to
 * those who may decide about it. `tools`: called late, because they are made from all other parts.
 */
export const secrecyOf =
  (db: Pick<Db, 'read'>, tools: () => ToolBox): Secrecy =>
  async (tenantId, records) => {
    const rows = await db.read({ tenantId }, whereMade(records))
    const byPlace = Map.groupBy(rows, ({ nth }) => nth - 1)
    const mayDecide = ({ tool_name: name }: MadeIn, principal: Principal): boolean =>
      name !== null && principal.member !== undefined && mayRunTool(tools(), name, principal)
    return (nth, principal) => {
      const places = byPlace.get(nth) ?? []
      return places.some((place) => sees(place, principal) || mayDecide(place, principal))
    }
  }
