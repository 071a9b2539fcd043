/**
 * `/ready`: whether this process can do its work, for whatever sends it requests or restarts it.
 * Anybody may ask, so a refusal has the name of the reason and nothing else.
 */
import { AppError } from '#kernel/errors'
import { answerResponse, errorResponse, requestIdOf } from './respond.ts'

/**
 * `migrations`: the database has others than this program. `ownership`: others may own the
 * workspaces of this process, because it has not renewed its lease. `held`: nothing goes out by
 * itself.
 */
type Unready = 'starting' | 'stopping' | 'database' | 'migrations' | 'ownership' | 'held'

/** Never rejects. */
export interface Readiness {
  /** What keeps the process from its work. */
  reason?: Exclude<Unready, 'held'> | undefined
  /** Whether the deployment is held: it serves people, and does nothing by itself. */
  held: boolean
}

const STRICT = 'fail'

export const readyResponse = async (
  ask: () => Promise<Readiness>,
  request: Request,
): Promise<Response> => {
  const { reason, held } = await ask()
  const isStrict = new URL(request.url).searchParams.get('held') === STRICT
  const unready: Unready | undefined = reason ?? (held && isStrict ? 'held' : undefined)
  return unready
    ? errorResponse(new AppError('unavailable', unready), requestIdOf(request))
    : answerResponse(
        { status: 200, body: JSON.stringify({ status: 'ready', held }) },
        requestIdOf(request),
      )
}
