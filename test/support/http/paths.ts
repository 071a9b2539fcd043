/** The paths that are served beside the operations of the contract. */
import { MCP_PATH } from '#edge/mcp/endpoint'

export const DOCUMENTS = [
  '/api/v1/openapi.json',
  '/api/v1/capabilities',
  '/.well-known/tendril.json',
]
const CHECKS = ['/health', '/ready']
/** The page of the API's reference, and its files: no API, so no document describes them. */
export const REFERENCE = ['/docs', '/docs/swagger-ui.css', '/docs/swagger-ui.js']
export const PUBLIC = [...CHECKS, ...DOCUMENTS, ...REFERENCE]
/** The endpoints of OAuth, with forms for input and errors of their own. */
export const OAUTH = ['code', 'token', 'revoke'].map((name) => `/api/v1/app/device/${name}`)
/** Documented beside the operations. */
export const INBOUND = '/webhooks/rules/{id}'
export const CHANNELS = '/webhooks/channels/{channel}'
export const SHARED = '/api/v1/artifacts/shared/{token}'
export const BESIDE = [...CHECKS, ...OAUTH, ...DOCUMENTS, INBOUND, CHANNELS, SHARED, MCP_PATH]
