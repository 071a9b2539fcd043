/** The page with the API's reference: Swagger UI over the OpenAPI document, from our own files. */
import { createHash } from 'node:crypto'
import { brotliDecompressSync } from 'node:zlib'
import { readAsset } from '#kernel/assets'
import { documentResponse, type StaticDocument, staticText } from './document.ts'

export const SWAGGER_UI = 'assets/swagger-ui'

/** It only reads: requests from here would carry the cookie of whoever is signed in. */
const START = `SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  domNode: document.getElementById('reference'),
  deepLinking: true,
  displayOperationId: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  supportedSubmitMethods: [],
  validatorUrl: null,
  plugins: [() => ({ wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null } })],
})`

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Tendril</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<noscript>This page needs scripts. <a href="/api/v1/openapi.json">The OpenAPI document</a> says the same.</noscript>
<div id="reference"></div>
<script src="/docs/swagger-ui.js"></script>
<script>${START}</script>
</body>
</html>
`

const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(START).digest('base64')}'`,
    "style-src 'self'",
    // Its icons are part of the style sheet.
    'img-src data:',
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

const packedFile = (name: string): StaticDocument => {
  const packed = () => readAsset(`${SWAGGER_UI}/${name}.br`)
  return staticText(() => brotliDecompressSync(packed()), packed)
}

const file = (
  path: string,
  name: string,
  type: string,
): [string, (request: Request) => Response] => {
  const document = packedFile(name)
  const headers = { 'content-type': `${type}; charset=utf-8`, 'x-content-type-options': 'nosniff' }
  return [path, (request) => documentResponse(document, request, headers)]
}

const page = staticText(() => new TextEncoder().encode(PAGE))

export const referenceRoutes: [string, (request: Request) => Response][] = [
  [
    '/docs',
    (request) =>
      documentResponse(page, request, {
        'content-type': 'text/html; charset=utf-8',
        ...PAGE_HEADERS,
      }),
  ],
  file('/docs/swagger-ui.js', 'swagger-ui-bundle.js', 'text/javascript'),
  file('/docs/swagger-ui.css', 'swagger-ui.css', 'text/css'),
]
