"""A page for signed-in people, with the settings and the backend that docs/how-to/connect-with-groups.md prints."""

import os
import sys

import django
import printed_settings
from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse, JsonResponse
from django.urls import include, path

settings.configure(
    **{name: getattr(printed_settings, name) for name in dir(printed_settings) if name.isupper()},
    SECRET_KEY=os.urandom(32).hex(),
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["localhost"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["DATABASE"]}},
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "mozilla_django_oidc",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    LOGIN_REDIRECT_URL_FAILURE="/reports/",
)
django.setup()


def reports(request):
    if not request.user.is_authenticated:
        return HttpResponse("You may not read the reports.", status=401)
    return JsonResponse({"groups": list(request.user.groups.values_list("name", flat=True))})


urlpatterns = [path("oidc/", include("mozilla_django_oidc.urls")), path("reports/", reports)]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
